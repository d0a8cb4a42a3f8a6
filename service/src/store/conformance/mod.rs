//! The contract of a store, as tests: one function for each promise, named after what holds.
//!
//! [`conformance!`] makes a test of each for one kind of store. Only the traits are used, and time
//! is always given; so every store runs the same suite.

pub(crate) mod adding;
pub(crate) mod asking;
pub(crate) mod counters;
pub(crate) mod dice;
pub(crate) mod editing;
pub(crate) mod filtering;
pub(crate) mod importing;
pub(crate) mod listing;
pub(crate) mod operating;
pub(crate) mod recording;
pub(crate) mod restoring;
pub(crate) mod retrieving;
pub(crate) mod samples;
pub(crate) mod statistics;
pub(crate) mod together;
pub(crate) mod upkeep;
pub(crate) mod vectors;
pub(crate) mod visibility;

/// A test for each promise. `$fresh` names an async function that returns a store of its own, empty,
/// and whatever must live as long as the store.
macro_rules! conformance {
    ($fresh:ident) => {
        $crate::store::conformance::conformance! { @one $fresh
            adding {
                a_new_memory_is_there_at_once_as_it_was_told
                the_same_content_again_is_reinforced_not_doubled
                an_old_telling_told_again_late_makes_no_memory_older
                reinforcing_merges_tags_and_keeps_feedback
                an_expired_memory_told_again_is_revived
                a_superseded_memory_told_again_is_revived
                a_trashed_memory_told_again_is_revived
                a_consumed_memory_stays_hidden_and_strengthens_what_it_went_into
                a_consumed_memory_told_again_comes_out_of_the_trash_still_consumed
                a_corrected_memory_told_again_stays_corrected_and_nothing_is_written
                force_brings_a_corrected_memory_back
                equal_texts_of_two_agents_are_two_memories
                equal_texts_at_two_places_are_two_memories
                contents_are_compared_to_the_last_character
                a_newer_memory_takes_the_place_of_the_one_that_it_supersedes
                a_memory_that_supersedes_itself_is_only_reinforced
                nothing_is_written_if_what_to_supersede_is_not_seen
                nothing_is_written_under_an_id_that_is_taken
                each_memory_of_a_batch_has_its_own_outcome_in_order
                an_empty_batch_adds_nothing
            }
            visibility {
                what_another_owns_is_absent_to_read
                what_another_owns_cannot_be_changed
                a_shared_memory_is_seen_by_all_of_its_namespace
                a_primary_agent_sees_all_of_its_namespace_and_no_other
                an_id_or_key_stands_for_its_memory_in_any_state
                a_prefix_of_six_characters_stands_for_the_one_memory_that_has_it
                an_ambiguous_prefix_lists_at_most_five_ids_in_order
                an_id_that_is_the_prefix_of_another_stands_for_itself
                a_prefix_is_not_ambiguous_by_what_the_scope_does_not_see
                states_are_counted_for_the_scope_alone
            }
            editing {
                an_edit_changes_what_it_names_and_nothing_else
                an_edited_content_is_found_by_its_new_words_alone
                an_edited_memory_is_known_by_its_new_content
                an_edit_to_the_content_of_another_memory_is_refused
                an_edit_may_take_the_content_that_another_agent_has
                an_edit_to_its_own_content_is_done
                an_edit_without_an_end_revives_what_expired_or_was_superseded
                an_edit_of_the_end_hides_a_memory_from_then_on
                a_trashed_memory_is_out_of_sight_until_it_is_restored
                a_memory_in_the_trash_stays_there_as_it_is
                a_consumed_memory_can_be_restored
                a_corrected_memory_comes_out_of_the_trash_corrected
                a_purged_memory_is_gone_for_good
                feedback_adds_up_and_renews_nothing
                a_corrected_memory_is_never_found_until_that_is_taken_back
            }
            listing {
                a_list_has_the_newest_created_first_then_by_id
                pages_hold_each_memory_once_however_many_are_of_one_moment
                a_cursor_goes_on_though_its_memory_is_gone
                each_filter_of_a_list_compares_exactly
                a_list_shows_every_state_but_trashed_or_the_one_asked_for
                a_scan_has_everything_in_the_order_of_ids
            }
            retrieving {
                what_was_just_written_is_found_and_what_was_deleted_is_not
                nothing_is_found_where_nothing_matches
                the_pool_is_the_best_by_bm25_then_the_newest_then_by_id
                the_turns_around_a_match_come_along
                no_neighbour_comes_along_that_filters_or_scope_refuse
                a_shared_match_brings_no_private_neighbour_along
                turns_at_the_ends_of_the_number_range_have_neighbours_too
                what_was_changed_many_times_is_found_once_as_it_is_now
            }
            asking {
                whatever_is_asked_all_that_matches_and_is_admitted_comes
            }
            filtering {
                filters_apply_before_the_cut_of_the_pool
                tags_filter_by_any_or_all_compared_exactly
                a_rule_of_tags_admits_what_it_says
                category_source_and_session_filter_exactly
                a_time_range_holds_its_beginning_and_not_its_end
                as_of_judges_validity_at_that_time_and_knows_nothing_later
                as_of_a_time_before_it_was_replaced_finds_the_older_memory
                only_active_memories_are_found_and_on_request_expired_and_superseded_ones
                hidden_tells_of_matches_that_filters_or_state_keep_back
            }
            together {
                while_the_lock_holds_nothing_is_searched
                a_lock_can_be_moved_and_cleared
                the_same_told_by_many_at_once_is_one_memory
                each_writer_among_many_finds_what_it_wrote
                what_is_retrieved_is_of_one_moment_while_others_write
            }
            statistics {
                statistics_stay_those_of_the_memories_after_any_writes
                statistics_leave_out_the_trash_and_other_namespaces
            }
            counters {
                topics_count_each_telling_on_the_day_that_it_is_about
                an_edit_the_trash_and_feedback_are_no_telling
                a_primary_scope_reads_the_union_and_any_other_its_own_topics
                related_entities_come_by_how_often_then_by_name
                a_primary_scope_reads_the_union_and_any_other_its_own_entities
                ten_entities_of_a_memory_take_part_in_pairs
                a_timeline_has_what_names_the_entity_the_newest_first
                a_timeline_follows_edits_restores_and_deletion
                a_timeline_shows_an_agent_its_own_and_shared_memories
                synonyms_belong_to_a_namespace_and_are_replaced_as_a_whole
                found_synonyms_never_replace_those_made_by_hand
                an_empty_list_removes_synonyms
                the_version_of_the_signals_changes_with_each_of_them
            }
            vectors {
                the_nearest_by_cosine_are_found_without_a_word_in_common
                words_and_vectors_each_fill_their_pool
                equal_cosines_come_the_newest_first_then_by_id
                vectors_of_another_model_are_never_compared
                filters_and_scope_admit_before_the_nearest_are_cut
                the_turns_around_a_near_memory_come_along
                what_has_no_direction_is_never_stored
                vectors_are_kept_at_unit_length
                a_vector_may_follow_its_memory
                a_vector_of_a_content_that_is_gone_is_left_out
                a_new_content_drops_the_vectors_of_the_old_one
                an_import_brings_its_vector_and_drops_those_of_an_older_content
                what_is_told_again_gets_the_vector_that_it_lacks
                memories_without_a_vector_are_listed_once_in_the_order_of_ids
                a_content_of_which_the_model_makes_nothing_is_not_asked_for_again
                a_purged_memory_leaves_no_vector
            }
            importing {
                an_import_puts_a_memory_back_as_it_was
                an_import_of_what_is_there_never_reinforces
                only_a_newer_version_overwrites
                a_newer_version_changes_every_field
                an_id_that_belongs_to_someone_else_is_refused
                a_content_that_another_memory_has_is_refused
                each_of_a_batch_is_imported_for_itself_in_order
                keywords_gain_attention_once_when_the_memory_is_new
                an_imported_memory_is_known_by_its_content_and_entities
            }
            operating {
                operations_are_done_in_order
                an_operation_asked_for_again_is_told_and_not_done_again
                an_operation_is_remembered_for_a_day
                what_found_no_match_stays_so_though_one_comes_later
                what_was_refused_is_not_remembered
                names_of_operations_belong_to_an_agent_of_a_namespace
                no_operation_touches_the_memory_of_another_agent
                old_text_is_compared_to_the_last_character
                only_active_memories_of_the_source_are_looked_through
                a_replacement_that_is_there_already_takes_the_place
                an_answer_is_kept_for_a_day
                everything_that_filters_name_is_deleted_if_it_is_so_many
                an_agent_deletes_only_what_it_sees
            }
            recording {
                a_record_is_read_as_it_was_put
                records_of_other_kinds_and_namespaces_are_apart
                records_come_the_newest_put_first
                the_oldest_records_beyond_the_most_are_dropped
                a_deleted_record_is_gone
                kinds_and_namespaces_with_records_are_told
            }
            upkeep {
                a_lease_has_one_holder_until_it_is_given_back
                a_revision_changes_memories_and_their_statistics_together
                a_revision_of_what_changed_meanwhile_changes_nothing
                a_revision_makes_no_second_memory_of_a_content_or_an_id
                a_superseded_memory_is_revived_by_restoring_it
                when_a_memory_was_last_retrieved_is_kept_beside_it
                a_content_is_checked_once
                found_synonyms_leave_those_made_by_hand
            }
            restoring {
                a_scan_of_counters_has_each_once
                a_counter_that_is_there_keeps_the_larger_number
                a_memory_whose_counters_are_restored_counts_nothing
            }
        }
        $crate::store::conformance::conformance! { @two $fresh
            importing { an_export_imported_into_a_second_store_is_the_same }
            restoring { counters_restored_into_a_second_store_are_the_same }
        }
    };
    (@one $fresh:ident $($group:ident { $($promise:ident)+ })+) => {
        $($(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $promise() {
                let (store, _kept) = $fresh().await;
                $crate::store::conformance::$group::$promise(&store).await;
            }
        )+)+
    };
    (@two $fresh:ident $($group:ident { $($promise:ident)+ })+) => {
        $($(
            #[tokio::test]
            async fn $promise() {
                let ((store, _kept), (second, _kept_too)) = ($fresh().await, $fresh().await);
                $crate::store::conformance::$group::$promise(&store, &second).await;
            }
        )+)+
    };
}
pub(crate) use conformance;
