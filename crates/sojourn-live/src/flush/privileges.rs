//! Fewer rights, once everything that needs them is open.
//!
//! What remains is `CAP_NET_RAW`, and only if it was there: with it the interface is opened again after it was gone. The
//! bounding set is emptied too, and `no_new_privs` is set, so that nothing executed could have more.

use caps::{CapSet, Capability};
use nix::unistd::{Gid, User, setgid, setgroups, setuid};

/// Gives up all rights but `CAP_NET_RAW`, and takes the identity of `user`, if one is named. To be called while there is one
/// thread.
///
/// # Errors
/// One sentence; rights may be gone in part, so the caller must end.
pub fn drop_privileges(user: Option<&str>) -> Result<(), String> {
    let told = |what: &str| {
        let what = what.to_owned();
        move |e: &dyn std::fmt::Display| format!("{what}: {e}")
    };
    rustix::thread::set_no_new_privs(true).map_err(|e| told("no_new_privs cannot be set")(&e))?;
    let had_raw = has(Capability::CAP_NET_RAW)?;
    if has(Capability::CAP_SETPCAP)? {
        let mut all: Vec<Capability> = caps::all().into_iter().collect();
        all.sort_unstable_by_key(Capability::index);
        for capability in all {
            let kept = capability == Capability::CAP_NET_RAW;
            if !kept && caps::has_cap(None, CapSet::Bounding, capability).unwrap_or(false) {
                let cannot = || told("the bounding set of capabilities cannot be emptied");
                caps::drop(None, CapSet::Bounding, capability).map_err(|e| cannot()(&e))?;
            }
        }
    }
    if let Some(name) = user {
        become_user(name)?;
    }
    let rest: &[Capability] = if had_raw { &[Capability::CAP_NET_RAW] } else { &[] };
    let cannot = || told("the capabilities cannot be given up");
    caps::clear(None, CapSet::Ambient).map_err(|e| cannot()(&e))?;
    // A change of identity took all out of the effective set, and left them in the permitted one.
    for set in [CapSet::Effective, CapSet::Permitted] {
        caps::set(None, set, &rest.iter().copied().collect()).map_err(|e| cannot()(&e))?;
    }
    caps::clear(None, CapSet::Inheritable).map_err(|e| cannot()(&e))?;
    Ok(())
}

fn has(capability: Capability) -> Result<bool, String> {
    caps::has_cap(None, CapSet::Permitted, capability).map_err(|e| format!("the capabilities cannot be read: {e}"))
}

fn become_user(name: &str) -> Result<(), String> {
    let found = User::from_name(name).map_err(|e| format!("user is {name:?}, but the users cannot be read: {e}"))?;
    let user = found.ok_or_else(|| format!("user is {name:?}, but must be a user of this machine"))?;
    let cannot = |e: nix::errno::Errno| format!("user is {name:?}, but its identity cannot be taken: {e}");
    rustix::thread::set_keep_capabilities(true).map_err(|e| format!("the capabilities cannot be kept: {e}"))?;
    setgroups(&[] as &[Gid]).map_err(cannot)?;
    setgid(user.gid).map_err(cannot)?;
    setuid(user.uid).map_err(cannot)
}
