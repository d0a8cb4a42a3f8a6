//! The connection to Redis: one, shared by all requests, made anew when it breaks, with a limit on
//! how long anything takes. Scripts run as functions, which are loaded when they are missing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ConnectionAddr, ConnectionInfo, ErrorKind,
    IntoConnectionInfo, Pipeline, RedisError, ServerErrorKind, Value,
};
use tokio::sync::Mutex;

use super::errors::{self, explained, from_redis};
use super::options::{RedisOptions, Sentinel};
use super::scripts::{self, Name};
use crate::store::StoreError;

/// How long making a connection may take.
const CONNECTING: Duration = Duration::from_secs(1);
/// How often something is sent again over a new connection after one broke.
const TRIES: usize = 3;

/// What is sent: one command, or several in one exchange.
#[derive(Clone, Copy)]
enum Request<'a> {
    One(&'a Cmd),
    Many(&'a Pipeline),
}

pub(super) struct Connection {
    target: ConnectionInfo,
    sentinel: Option<Sentinel>,
    config: AsyncConnectionConfig,
    /// The living connection, with a number that tells it from those before it.
    current: Mutex<(u64, Option<MultiplexedConnection>)>,
    /// Whether the user may not use functions.
    without_functions: AtomicBool,
    /// Scripts that were sent, by name.
    hashes: Mutex<HashMap<Name, String>>,
}

impl Connection {
    /// Prepares for connecting; nothing is sent yet.
    pub(super) fn new(options: &RedisOptions) -> Result<Connection, StoreError> {
        let target = options.url.as_str().into_connection_info().map_err(|error| {
            StoreError::Refused(explained(format!(
                "`redis_url` is no address of a Redis: {error}\nhint: such as redis://127.0.0.1:6379, rediss://user:password@host:6380, redis+unix:///run/redis.sock"
            )))
        })?;
        Ok(Connection {
            target,
            sentinel: options.sentinel.clone(),
            config: AsyncConnectionConfig::new()
                .set_connection_timeout(Some(CONNECTING))
                .set_response_timeout(Some(options.timeout)),
            current: Mutex::new((0, None)),
            without_functions: AtomicBool::new(false),
            hashes: Mutex::default(),
        })
    }

    /// Sends one command. What is sent may be done twice when the connection breaks.
    pub(super) async fn command(&self, command: &Cmd) -> Result<Value, StoreError> {
        self.send(Request::One(command)).await.map_err(from_redis)
    }

    /// Sends several commands in one exchange; their answers in order.
    pub(super) async fn pipeline(&self, pipeline: &Pipeline) -> Result<Vec<Value>, StoreError> {
        match self
            .send(Request::Many(pipeline))
            .await
            .map_err(from_redis)?
        {
            Value::Array(answers) => Ok(answers),
            other => Ok(vec![other]),
        }
    }

    /// Runs a script.
    pub(super) async fn script(
        &self,
        name: Name,
        arguments: &[Vec<u8>],
    ) -> Result<Value, RedisError> {
        if self.without_functions.load(Ordering::Relaxed) {
            return self.evaluate(name, arguments).await;
        }
        let mut call = redis::cmd("FCALL");
        call.arg(name.function()).arg(0).arg(arguments);
        match self.send(Request::One(&call)).await {
            Err(error) if errors::is_missing_function(&error) => {
                match self.load_functions().await {
                    Ok(()) => self.send(Request::One(&call)).await,
                    Err(error) if may_not(&error) => {
                        self.without_functions.store(true, Ordering::Relaxed);
                        tracing::info!(
                            "functions are not allowed in this Redis: scripts are sent instead"
                        );
                        self.evaluate(name, arguments).await
                    }
                    Err(error) => Err(error),
                }
            }
            Err(error) if may_not(&error) => {
                self.without_functions.store(true, Ordering::Relaxed);
                self.evaluate(name, arguments).await
            }
            answer => answer,
        }
    }

    async fn load_functions(&self) -> Result<(), RedisError> {
        let mut load = redis::cmd("FUNCTION");
        load.arg("LOAD").arg("REPLACE").arg(scripts::library());
        self.send(Request::One(&load)).await.map(|_| ())
    }

    /// Sends the script itself where functions are not allowed: once, then its hash.
    async fn evaluate(&self, name: Name, arguments: &[Vec<u8>]) -> Result<Value, RedisError> {
        let mut hashes = self.hashes.lock().await;
        let known = hashes.get(&name).cloned();
        let hash = match known {
            Some(hash) => hash,
            None => self.load_script(name).await?,
        };
        hashes.insert(name, hash.clone());
        drop(hashes);
        let call = |hash: &str| {
            let mut call = redis::cmd("EVALSHA");
            call.arg(hash).arg(0).arg(arguments);
            call
        };
        match self.send(Request::One(&call(&hash))).await {
            // The server was restarted, or someone flushed its scripts.
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                let hash = self.load_script(name).await?;
                self.send(Request::One(&call(&hash))).await
            }
            answer => answer,
        }
    }

    async fn load_script(&self, name: Name) -> Result<String, RedisError> {
        let mut load = redis::cmd("SCRIPT");
        load.arg("LOAD").arg(name.script());
        redis::from_redis_value(self.send(Request::One(&load)).await?).map_err(RedisError::from)
    }

    async fn send(&self, request: Request<'_>) -> Result<Value, RedisError> {
        let mut tries = 0;
        loop {
            let (number, mut connection) = self.connected().await?;
            let answer = match request {
                Request::One(command) => connection.send_packed_command(command).await,
                Request::Many(pipeline) => {
                    // Of a transaction only the answer of its end is wanted.
                    let (skipped, wanted) = match pipeline.is_transaction() {
                        true => (pipeline.len() + 1, 1),
                        false => (0, pipeline.len()),
                    };
                    let answers = connection
                        .send_packed_commands(pipeline, skipped, wanted)
                        .await;
                    answers.and_then(|answers| {
                        let answers = answers.into_iter().map(Value::extract_error);
                        answers.collect::<Result<_, _>>().map(Value::Array)
                    })
                }
            }
            .and_then(Value::extract_error);
            let Err(error) = answer else { return answer };
            tries += 1;
            if errors::is_broken(&error) {
                self.give_up(number).await;
                if tries < TRIES {
                    continue;
                }
            } else if error.is_timeout()
                || error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
            {
                // A server that hangs, or that is no master any more: ask for another next time.
                self.give_up(number).await;
            }
            return Err(error);
        }
    }

    /// The living connection, or a new one.
    async fn connected(&self) -> Result<(u64, MultiplexedConnection), RedisError> {
        let mut current = self.current.lock().await;
        if let (number, Some(connection)) = &*current {
            return Ok((*number, connection.clone()));
        }
        let target = match &self.sentinel {
            Some(sentinel) => self.master(sentinel).await?,
            None => self.target.clone(),
        };
        let connection = connect(target, &self.config).await?;
        current.0 += 1;
        current.1 = Some(connection.clone());
        Ok((current.0, connection))
    }

    async fn give_up(&self, number: u64) {
        let mut current = self.current.lock().await;
        if current.0 == number {
            current.1 = None;
        }
    }

    /// Asks the sentinels, one after the other, where the master is.
    async fn master(&self, sentinel: &Sentinel) -> Result<ConnectionInfo, RedisError> {
        let mut last = RedisError::from((ErrorKind::EmptySentinelList, "no sentinel is set"));
        for address in &sentinel.addresses {
            match self.ask(sentinel, address).await {
                Ok(Some(address)) => return Ok(self.target.clone().set_addr(address)),
                Ok(None) => {
                    last = RedisError::from((
                        ErrorKind::MasterNameNotFoundBySentinel,
                        "the sentinels know no such master",
                        sentinel.master.clone(),
                    ));
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn ask(
        &self,
        sentinel: &Sentinel,
        address: &str,
    ) -> Result<Option<ConnectionAddr>, RedisError> {
        let mut information = self
            .with_port(address, 26379)?
            .into_connection_info()?
            .set_redis_settings(redis::RedisConnectionInfo::default());
        if !sentinel.password.is_empty() {
            let settings = redis::RedisConnectionInfo::default().set_password(&sentinel.password);
            information = information.set_redis_settings(settings);
        }
        let mut connection = connect(information, &self.config).await?;
        let mut question = redis::cmd("SENTINEL");
        question
            .arg("GET-MASTER-ADDR-BY-NAME")
            .arg(&sentinel.master);
        let answer: Option<(String, u16)> = question.query_async(&mut connection).await?;
        Ok(answer.map(|(host, port)| self.same_kind(host, port)))
    }

    fn with_port(&self, address: &str, port: u16) -> Result<ConnectionAddr, RedisError> {
        let (host, port) = match address.rsplit_once(':') {
            Some((host, port)) => (
                host.to_owned(),
                port.parse().map_err(|_| {
                    RedisError::from((
                        ErrorKind::InvalidClientConfig,
                        "a sentinel's address is no host:port",
                        address.to_owned(),
                    ))
                })?,
            ),
            None => (address.to_owned(), port),
        };
        Ok(self.same_kind(host, port))
    }

    /// An address that is reached like the configured one: with TLS or without.
    fn same_kind(&self, host: String, port: u16) -> ConnectionAddr {
        match self.target.addr() {
            ConnectionAddr::TcpTls {
                insecure,
                tls_params,
                ..
            } => ConnectionAddr::TcpTls {
                host,
                port,
                insecure: *insecure,
                tls_params: tls_params.clone(),
            },
            ConnectionAddr::Tcp(..) | ConnectionAddr::Unix(_) | _ => {
                ConnectionAddr::Tcp(host, port)
            }
        }
    }
}

async fn connect(
    target: ConnectionInfo,
    config: &AsyncConnectionConfig,
) -> Result<MultiplexedConnection, RedisError> {
    Client::open(target)?
        .get_multiplexed_async_connection_with_config(config)
        .await
}

fn may_not(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoPerm)
        || error.to_string().to_lowercase().contains("unknown command")
}
