//! The heap of a component. It begins in memory that is there from the start: for a host, growing a memory and shrinking it
//! again takes longer than most calls do, and most calls need only a few kilobytes.

#![allow(unsafe_code, reason = "an allocator is handed its memory by address")]

use core::{alloc::Layout, arch::wasm32::memory_grow, mem::MaybeUninit, ptr::NonNull};

use talc::{
    base::{Talc, binning::Binning},
    cell::TalcSyncCell,
    source::Source,
    wasm::WasmBinning,
};

/// Bytes to begin with. What a tool allocates that reads its arguments, a page of text and writes as much; more would make every
/// call of every tool clear it.
const FIRST: usize = 40 << 10;

/// Bytes of one page of memory.
const PAGE: usize = 64 << 10;

/// What the allocator takes for itself of a new piece, and more.
const OVERHEAD: usize = 64;

static mut START: [MaybeUninit<u8>; FIRST] = [MaybeUninit::uninit(); FIRST];

#[global_allocator]
static HEAP: TalcSyncCell<Growing, WasmBinning> = TalcSyncCell::new_wasm(Growing { begun: false, end: None });

/// Where the allocator gets its memory: first [`START`], then from the host.
#[derive(Debug)]
struct Growing {
    begun: bool,
    /// Where the last piece from the host ends. The next one usually begins there, and makes it longer.
    end: Option<NonNull<u8>>,
}

// SAFETY: nothing in here allocates.
unsafe impl Source for Growing {
    fn acquire<B: Binning>(heap: &mut Talc<Self, B>, layout: Layout) -> Result<(), ()> {
        if !heap.source.begun {
            heap.source.begun = true;
            // SAFETY: nobody else names the array, and it is given away once.
            unsafe { heap.claim((&raw mut START).cast(), FIRST) };
            return Ok(());
        }
        let wanted = layout.size().saturating_add(layout.align()).saturating_add(OVERHEAD);
        let pages = wanted.div_ceil(PAGE);
        let before = memory_grow::<0>(pages);
        if before == usize::MAX {
            return Err(());
        }
        let base = (before * PAGE) as *mut u8;
        let end = base.wrapping_add(pages * PAGE);
        // SAFETY: the pages are new, so they are nobody's; they go on where the last piece ends, or are a piece of their own.
        heap.source.end = match heap.source.end {
            Some(last) if last.as_ptr() == base => Some(unsafe { heap.extend(last, end) }),
            _ => unsafe { heap.claim(base, pages * PAGE) },
        };
        Ok(())
    }
}
