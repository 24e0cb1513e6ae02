//! The system calls that remain once the daemon runs.
//!
//! All others fail with `EPERM`; they do not end the process, so that a C library which tries a newer call first goes
//! on with the older one. Notably absent: executing, tracing, mounting, entering namespaces, loading modules and
//! programs of the kernel, changing identity, and keys.

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter_all_threads};
use std::collections::BTreeMap;

/// What the daemon, libpcap (which opens the interface again), the metrics and the view use.
const ALLOWED: &[i64] = &[
    // Files and descriptors.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_lseek,
    libc::SYS_openat,
    libc::SYS_close,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_fcntl,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_ioctl,
    libc::SYS_pipe2,
    libc::SYS_eventfd2,
    // Memory.
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    // Waiting, time, threads, signals.
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_futex,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
    libc::SYS_gettimeofday,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_tgkill,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getrandom,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // Sockets.
    libc::SYS_socket,
    libc::SYS_bind,
    libc::SYS_connect,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_shutdown,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
];

/// Calls that only older architectures have.
#[cfg(target_arch = "x86_64")]
const OLDER: &[i64] = &[
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_wait,
    libc::SYS_dup2,
    libc::SYS_pipe,
    libc::SYS_time,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[i64] = &[];

/// Confines all threads of this process.
///
/// # Errors
/// One sentence, say if the kernel has no seccomp or the architecture is not one that the library knows.
pub(crate) fn enter() -> Result<(), String> {
    let cannot = |e: &dyn std::fmt::Display| {
        format!("system calls cannot be confined by seccomp ({e}): give --no-seccomp to run all the same")
    };
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(|e| cannot(&e))?;
    let rules: BTreeMap<i64, _> = ALLOWED.iter().chain(OLDER).map(|&call| (call, Vec::new())).collect();
    let refused = SeccompAction::Errno(rustix::io::Errno::PERM.raw_os_error().unsigned_abs());
    let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, architecture).map_err(|e| cannot(&e))?;
    let program = BpfProgram::try_from(filter).map_err(|e| cannot(&e))?;
    apply_filter_all_threads(&program).map_err(|e| cannot(&e))
}
