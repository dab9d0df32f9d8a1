use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use modelexport_graph::{SourceId, Span};

use super::*;

fn view_of(size: u64) -> StridedView {
    let span = Span { source: SourceId(0), offset: 0, length: size };
    StridedView { span, offset: 0, sizes: vec![size], strides: vec![1] }
}

/// Writing that counts how often it is done, and never by two threads at once.
#[derive(Clone, Default)]
struct Counted {
    done: Arc<AtomicUsize>,
    is_writing: Arc<AtomicBool>,
}

impl Counted {
    fn write(&self) {
        assert!(!self.is_writing.swap(true, Ordering::SeqCst), "two threads write");
        std::thread::yield_now();
        self.done.fetch_add(1, Ordering::Relaxed);
        self.is_writing.store(false, Ordering::SeqCst);
    }

    fn copy(&self) -> Copy {
        let counted = self.clone();
        Box::new(move |_| {
            counted.write();
            Ok(())
        })
    }

    /// Prepares so many parts of five bytes.
    fn parts(&self, count: usize) -> Prepare {
        let counted = self.clone();
        Box::new(move |_, sink| {
            for number in 0..count {
                let Some(mut buffer) = sink.buffer() else { return Ok(()) };
                buffer.of(5).fill(number as u8);
                let counted = counted.clone();
                let work = move |bytes: &[u8]| {
                    assert_eq!(bytes, [number as u8; 5]);
                    counted.write();
                    Ok(())
                };
                sink.push(buffer, 5, Box::new(work));
            }
            Ok(())
        })
    }
}

#[test]
fn all_work_is_done_and_reported_when_it_finishes_and_more_can_follow() {
    let mut pool = Pool::default();
    let counted = Counted::default();
    let mut written = 0;
    for round in 1..3 {
        for index in 0..1000 {
            match index % 3 {
                0 => pool.copy(5, &view_of(1), counted.copy(), &mut |bytes| written += bytes),
                _ => pool.prepare(&view_of(1), counted.parts(index % 7), &mut |bytes| written += bytes),
            }
        }
        pool.finish(&mut |bytes| written += bytes).unwrap();
        let expected: usize = (0..1000).map(|index| if index % 3 == 0 { 1 } else { index % 7 }).sum();
        assert_eq!(counted.done.load(Ordering::Relaxed), expected * round);
        assert_eq!(written, (5 * expected * round) as u64);
    }
}

#[test]
fn work_is_done_also_without_threads() {
    let shared = Shared::default();
    let counted = Counted::default();
    {
        let mut state = shared.lock();
        state.to_prepare.push_back(Job { view: view_of(1), work: counted.parts(2 * PARTS) });
        state.copies.push_back(Write::Copy { bytes: 5, job: Job { view: view_of(1), work: counted.copy() } });
    }
    shared.work_until_idle();
    assert_eq!(counted.done.load(Ordering::Relaxed), 2 * PARTS + 1);
    assert_eq!(shared.lock().written, 5 * (2 * PARTS as u64 + 1));
}

#[test]
fn parts_are_written_before_copies_and_nothing_while_another_writes() {
    let mut state = State::default();
    let copy = Job::<Copy> { view: view_of(1), work: Box::new(|_| Ok(())) };
    let part = Job::<WritePart> { view: view_of(1), work: Box::new(|_| Ok(())) };
    state.copies.push_back(Write::Copy { bytes: 1, job: copy });
    state.parts.push_back(Write::Part { buffer: Buffer::default(), length: 1, job: part });
    assert!(matches!(state.take_write(), Some(Write::Part { .. })));
    assert!(state.take_write().is_none());
    state.is_writing = false;
    assert!(state.take_part().is_none());
    assert!(matches!(state.take_write(), Some(Write::Copy { .. })));
}

#[test]
fn the_first_failure_is_told_with_its_weight_and_ends_the_rest() {
    let fails_to_prepare: fn(&mut Pool) =
        |pool| pool.prepare(&view_of(7), Box::new(|_, _| Err(Error::TooLarge)), &mut |_| {});
    let fails_to_copy: fn(&mut Pool) =
        |pool| pool.copy(7, &view_of(7), Box::new(|_| Err(Error::TooLarge)), &mut |_| {});
    let fails_to_write: fn(&mut Pool) = |pool| {
        let work: Prepare = Box::new(|_, sink| {
            while let Some(buffer) = sink.buffer() {
                sink.push(buffer, 0, Box::new(|_| Err(Error::TooLarge)));
            }
            Ok(())
        });
        pool.prepare(&view_of(7), work, &mut |_| {});
    };
    for fail in [fails_to_prepare, fails_to_copy, fails_to_write] {
        let mut pool = Pool::default();
        fail(&mut pool);
        for _ in 0..1000 {
            pool.copy(8, &view_of(8), Box::new(|_| Ok(())), &mut |_| {});
        }
        let failure = pool.finish(&mut |_| {}).unwrap_err();
        assert!(matches!(failure.error, Error::TooLarge));
        assert_eq!(failure.view.unwrap().sizes, [7]);
    }
}

#[test]
fn a_panic_in_a_thread_is_a_failure() {
    let mut pool = Pool::default();
    pool.copy(1, &view_of(1), Box::new(|_| panic!("on purpose")), &mut |_| {});
    let failure = pool.finish(&mut |_| {}).unwrap_err();
    assert!(matches!(failure.error, Error::Thread));
}

#[test]
fn dropping_the_pool_ends_its_threads() {
    // Again and again: threads are met at other places each time.
    for _ in 0..200 {
        let mut pool = Pool::default();
        let counted = Counted::default();
        for _ in 0..3 {
            pool.copy(1, &view_of(1), counted.copy(), &mut |_| {});
            pool.prepare(&view_of(1), counted.parts(9), &mut |_| {});
        }
        drop(pool);
        assert_eq!(Arc::strong_count(&counted.done), 1);
    }
}

#[test]
fn parts_that_are_given_up_leave_their_place() {
    let mut state = State { used: 1, ..State::default() };
    let job = Job::<WritePart> { view: view_of(1), work: Box::new(|_| Ok(())) };
    state.parts.push_back(Write::Part { buffer: Buffer::default(), length: 1, job });
    state.clear();
    assert_eq!(state.used, 0);
}
