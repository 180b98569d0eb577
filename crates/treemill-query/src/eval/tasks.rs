//! Does the tasks of a batch from a stack. A task that lacks an input names it, and waits until the input is made.
//! Knows neither values nor kernels.

use super::SelectionId;
use crate::compile::{LevelId, NodeId};
use crate::error::{ProcessError, QueryError};
use std::collections::HashSet;

/// A task: what is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Task {
    Node(NodeId),
    Offsets(LevelId),
    SelectionVector(LevelId, u8),
    Parents(LevelId),
    Items(LevelId, SelectionId),
}

/// Why something could not be made.
pub(super) enum Halt {
    /// Something else must be made first.
    Need(SelectionId, Task),
    Error(ProcessError),
}

impl From<QueryError> for Halt {
    fn from(error: QueryError) -> Self {
        Self::Error(error.into())
    }
}

pub(super) type Made<T> = Result<T, Halt>;

/// Does a task after all tasks that it needs. A task that waits for itself, directly or not, is an error: the plan
/// is wrong, and the stack would grow without end.
pub(super) fn work_off(
    selection: SelectionId,
    task: Task,
    mut attempt: impl FnMut(SelectionId, Task) -> Made<()>,
) -> Result<(), ProcessError> {
    let mut stack = vec![(selection, task)];
    // The tasks on the stack.
    let mut waiting = HashSet::from([(selection, task)]);
    while let Some(&(selection, task)) = stack.last() {
        match attempt(selection, task) {
            Ok(()) => {
                stack.pop();
                waiting.remove(&(selection, task));
            }
            Err(Halt::Need(selection, task)) => {
                if !waiting.insert((selection, task)) {
                    return Err(circular(&stack, (selection, task)).into());
                }
                stack.push((selection, task));
            }
            Err(Halt::Error(error)) => return Err(error),
        }
    }
    Ok(())
}

/// Names the tasks that wait for one another in a circle.
fn circular(stack: &[(SelectionId, Task)], again: (SelectionId, Task)) -> QueryError {
    let circle = stack.iter().skip_while(|waiting| **waiting != again);
    let names: Vec<String> = circle.map(|(_, task)| format!("{task:?}")).collect();
    let over = names.join(", ");
    QueryError::mistake(format!("{:?} waits for itself (over {over})", again.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_is_made_first() {
        let mut made = Vec::new();
        let found = work_off(0, Task::Node(3), |s, task| {
            let needs: &[NodeId] = match task {
                Task::Node(3) => &[2, 0],
                Task::Node(2) => &[1, 0],
                Task::Node(1) => &[0],
                _ => &[],
            };
            let mut missing = needs.iter().map(|need| Task::Node(*need));
            if let Some(need) = missing.find(|need| !made.contains(need)) {
                return Err(Halt::Need(s, need));
            }
            made.push(task);
            Ok(())
        });
        assert!(found.is_ok());
        assert_eq!(made, [0, 1, 2, 3].map(Task::Node));
    }

    #[test]
    fn a_circle_is_an_error_that_names_it() {
        let found = work_off(0, Task::Node(1), |s, task| {
            Err(match task {
                Task::Node(7) => Halt::Need(s, Task::Offsets(2)),
                Task::Offsets(2) => Halt::Need(s, Task::Node(9)),
                Task::Node(9) => Halt::Need(s, Task::Node(7)),
                _ => Halt::Need(s, Task::Node(7)),
            })
        });
        let message = found.err().map(|error| error.to_string());
        let message = message.unwrap_or_default();
        let circle = "Node(7) waits for itself (over Node(7), Offsets(2), Node(9))";
        assert!(message.starts_with(circle), "{message}");
    }

    #[test]
    fn the_same_of_another_selection_is_another_task() {
        let mut made = Vec::new();
        let found = work_off(1, Task::Node(4), |s, task| {
            if s == 1 && made.is_empty() {
                return Err(Halt::Need(0, task));
            }
            made.push(s);
            Ok(())
        });
        assert!(found.is_ok());
        assert_eq!(made, [0, 1]);
    }
}
