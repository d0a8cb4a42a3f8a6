//! The routes over the settings that hold now. A request is answered wholly by the routes that it
//! came to, so it sees one state of the settings; a change makes new routes for the next one.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use tower::{Service, ServiceExt};

use super::idempotency::Idempotency;
use super::over;
use crate::app::App;
use crate::config::Settings;
use crate::skills::shelf::Shelf;

/// Routes that follow the settings of an app.
#[derive(Clone)]
pub(super) struct Live {
    app: App,
    /// Knows what is at work, whichever routes it came to.
    idempotency: Idempotency,
    shelf: Shelf,
    current: Arc<RwLock<(Arc<Settings>, Router)>>,
}

impl Live {
    pub(super) fn new(app: App) -> Live {
        let idempotency = Idempotency::new(app.clone());
        let shelf = Shelf::default();
        let routes = over(app.clone(), idempotency.clone(), shelf.clone());
        let current = (app.settings.clone(), routes);
        Live {
            app,
            idempotency,
            shelf,
            current: Arc::new(RwLock::new(current)),
        }
    }

    fn routes(&self) -> Router {
        let app = self.app.current();
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        if Arc::ptr_eq(&current.0, &app.settings) {
            return current.1.clone();
        }
        drop(current);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let routes = over(app.clone(), self.idempotency.clone(), self.shelf.clone());
        *current = (app.settings, routes);
        current.1.clone()
    }
}

impl Service<Request> for Live {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        Box::pin(self.routes().oneshot(request))
    }
}
