//! Fewer rights, once everything that needs them is open.
//!
//! Root's identity is given up unless it was named: for that of whoever called `sudo`, or else of `nobody`. Of the
//! capabilities `CAP_NET_RAW` remains, and only if it was there: with it the interface is opened again after it was
//! gone. The bounding set is emptied too, and `no_new_privs` is set, so that nothing executed could have more.

use caps::{CapSet, Capability};
use nix::errno::Errno;
use nix::sys::prctl::{set_keepcaps, set_no_new_privs};
use nix::unistd::{Gid, Uid, User, geteuid, setgid, setgroups, setuid};
use std::fmt::Display;

/// Who has number 0, whatever the file of users says.
const ROOT: &str = "root";
/// Who has nothing of his own.
const NOBODY: &str = "nobody";

/// Whose identity the daemon has in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// That which it was started with: it is no root, or root was named.
    Same,
    /// Another one.
    Other {
        /// The user's number.
        user: u32,
        /// The number of the user's group; there are no others.
        group: u32,
        /// Why this one: `--user`, `sudo` or `nobody`.
        why: &'static str,
    },
}

/// What is kept beside the identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// `CAP_NET_RAW`, if it is there.
    NetRaw,
    /// Nothing.
    Nothing,
}

impl Identity {
    /// That of a user who has nothing, by the number that kernels and distributions give him. Source:
    /// user_namespaces(7), `overflowuid`.
    pub const NOBODY: Self = Self::Other {
        user: 65_534,
        group: 65_534,
        why: NOBODY,
    };

    /// That of the `named` user; if none is named and this is root, that of the caller of `sudo`, or else of
    /// `nobody`.
    ///
    /// # Errors
    /// One sentence, if there is no such user.
    pub fn choose(named: Option<&str>) -> Result<Self, String> {
        let sudo = ["SUDO_UID", "SUDO_GID"].map(|name| std::env::var(name).ok());
        Self::of(named, geteuid().is_root(), sudo.each_ref().map(Option::as_deref))
    }

    fn of(named: Option<&str>, root: bool, sudo: [Option<&str>; 2]) -> Result<Self, String> {
        // The file of users is not read for root, so that a guest's record does not depend on the file of its machine.
        if named == Some(ROOT) && root {
            return Ok(Self::Same);
        }
        if let Some(name) = named {
            return match look_up(name)? {
                user if user.uid.is_root() && root => Ok(Self::Same),
                user => Ok(Self::from(&user, "--user")),
            };
        }
        if !root {
            return Ok(Self::Same);
        }
        // Whoever is root already may set these as he likes. They are numbers of an ordinary user, or else of no use.
        if let [Some(user), Some(group)] = sudo.map(|text| text.and_then(|t| t.parse().ok()).filter(|n| *n != 0)) {
            let why = "sudo";
            return Ok(Self::Other { user, group, why });
        }
        let found = look_up(NOBODY);
        found.map(|user| Self::from(&user, NOBODY)).map_err(|_| {
            format!("there is no user {NOBODY}, whose identity root gives itself: name a user with --user (root to remain root)")
        })
    }

    fn from(user: &User, why: &'static str) -> Self {
        Self::Other {
            user: user.uid.as_raw(),
            group: user.gid.as_raw(),
            why,
        }
    }

    /// Whether this user namespace has the identity; in one of a single user (`unshare -r`) there is no other to
    /// take.
    #[must_use]
    pub fn is_there(&self) -> bool {
        let Self::Other { user, group, .. } = self else {
            return true;
        };
        let has = |file: &str, id: u32| std::fs::read_to_string(file).is_ok_and(|map| is_mapped(&map, id));
        has("/proc/self/uid_map", *user) && has("/proc/self/gid_map", *group)
    }
}

/// Whether a map of a user namespace has a number. Source: user_namespaces(7), "first inside, first outside, count".
fn is_mapped(map: &str, id: u32) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(str::parse::<u64>);
        match [numbers.next(), numbers.next(), numbers.next()] {
            [Some(Ok(first)), Some(Ok(_)), Some(Ok(count))] => (first..first + count).contains(&id.into()),
            _ => false,
        }
    })
}

fn look_up(name: &str) -> Result<User, String> {
    let found = User::from_name(name).map_err(|e| format!("user is {name:?}, but the users cannot be read: {e}"))?;
    found.ok_or_else(|| format!("user is {name:?}, but must be a user of this machine"))
}

/// Takes an identity, and gives up all rights but those that are kept. To be called while there is one thread.
///
/// # Errors
/// One sentence; rights may be gone in part, so the caller must end.
pub fn drop_privileges(identity: &Identity, keep: Keep) -> Result<(), String> {
    if !identity.is_there() {
        return Err(
            "root gives up its identity, but this user namespace has no other: name --user root to remain root".into(),
        );
    }
    set_no_new_privs().map_err(|e| sentence("no_new_privs cannot be set", &e))?;
    let raw = Capability::CAP_NET_RAW;
    let kept: &[Capability] = if keep == Keep::NetRaw && has(raw)? { &[raw] } else { &[] };
    if has(Capability::CAP_SETPCAP)? {
        empty_bounding_set(kept)?;
    }
    match *identity {
        Identity::Same => leave_groups()?,
        Identity::Other { user, group, .. } => become_other(user, group)?,
    }
    keep_rights(kept)
}

/// Gives up all rights but these, for this process and for what it becomes, whose user stays the same.
///
/// # Errors
/// One sentence; rights may be gone in part, so the caller must end.
pub(crate) fn keep_only(kept: &[Capability]) -> Result<(), String> {
    set_no_new_privs().map_err(|e| sentence("no_new_privs cannot be set", &e))?;
    empty_bounding_set(kept)?;
    keep_rights(kept)
}

fn keep_rights(kept: &[Capability]) -> Result<(), String> {
    let cannot = |e: caps::errors::CapsError| sentence("the capabilities cannot be given up", &e);
    caps::clear(None, CapSet::Ambient).map_err(cannot)?;
    // A change of identity took all out of the effective set, and left them in the permitted one.
    for set in [CapSet::Effective, CapSet::Permitted] {
        caps::set(None, set, &kept.iter().copied().collect()).map_err(cannot)?;
    }
    caps::clear(None, CapSet::Inheritable).map_err(cannot)
}

fn sentence(what: &str, e: &dyn Display) -> String {
    format!("{what}: {e}")
}

fn has(capability: Capability) -> Result<bool, String> {
    caps::has_cap(None, CapSet::Permitted, capability).map_err(|e| sentence("the capabilities cannot be read", &e))
}

fn empty_bounding_set(kept: &[Capability]) -> Result<(), String> {
    let mut all: Vec<Capability> = caps::all().into_iter().collect();
    all.sort_unstable_by_key(Capability::index);
    for capability in all {
        if !kept.contains(&capability) && caps::has_cap(None, CapSet::Bounding, capability).unwrap_or(false) {
            let what = "the bounding set of capabilities cannot be emptied";
            caps::drop(None, CapSet::Bounding, capability).map_err(|e| sentence(what, &e))?;
        }
    }
    Ok(())
}

/// Leaves all groups but the first, where this process may: a user namespace may forbid it to all in it.
fn leave_groups() -> Result<(), String> {
    let forbidden = std::fs::read_to_string("/proc/self/setgroups").is_ok_and(|word| word.trim() == "deny");
    if forbidden || !has(Capability::CAP_SETGID)? {
        return Ok(());
    }
    setgroups(&[]).map_err(|e| sentence("the groups cannot be left", &e))
}

fn become_other(user: u32, group: u32) -> Result<(), String> {
    let cannot = |e: Errno| format!("user is {user} (group {group}), but this identity cannot be taken: {e}");
    set_keepcaps(true).map_err(|e| sentence("the capabilities cannot be kept", &e))?;
    setgroups(&[]).map_err(cannot)?;
    setgid(Gid::from_raw(group)).map_err(cannot)?;
    setuid(Uid::from_raw(user)).map_err(cannot)?;
    set_keepcaps(false).map_err(|e| sentence("the capabilities cannot be given up", &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_SUDO: [Option<&str>; 2] = [None, None];

    fn other(user: u32, group: u32, why: &'static str) -> Identity {
        Identity::Other { user, group, why }
    }

    #[test]
    fn root_gives_itself_up_for_the_caller_of_sudo_or_for_nobody() {
        assert_eq!(
            Identity::of(None, true, [Some("1000"), Some("100")]),
            Ok(other(1000, 100, "sudo"))
        );
        let nobody = look_up(NOBODY).expect("every machine has one");
        let nobody = other(nobody.uid.as_raw(), nobody.gid.as_raw(), "nobody");
        for sudo in [
            NO_SUDO,
            [Some("1000"), None],
            [None, Some("100")],
            // Root called it, or somebody wrote nonsense.
            [Some("0"), Some("0")],
            [Some("1000"), Some("0")],
            [Some("-1"), Some("100")],
            [Some("4294967296"), Some("100")],
            [Some("alice"), Some("100")],
            [Some(""), Some("")],
        ] {
            assert_eq!(Identity::of(None, true, sudo), Ok(nobody.clone()), "{sudo:?}");
        }
    }

    #[test]
    fn root_remains_only_if_it_is_named() {
        assert_eq!(
            Identity::of(Some("root"), true, [Some("1000"), Some("100")]),
            Ok(Identity::Same)
        );
        assert_eq!(Identity::of(Some("root"), false, NO_SUDO), Ok(other(0, 0, "--user")));
        assert_eq!(
            Identity::of(None, false, [Some("1000"), Some("100")]),
            Ok(Identity::Same)
        );
        assert_eq!(
            Identity::of(Some("no such user"), true, NO_SUDO),
            Err("user is \"no such user\", but must be a user of this machine".into())
        );
    }

    #[test]
    fn a_map_has_the_numbers_of_its_ranges() {
        assert!(is_mapped("         0          0 4294967295\n", 65_534));
        assert!(!is_mapped("         0       1000          1\n", 65_534));
        let two = "0 1000 1\n1 100000 65536\n";
        assert!(is_mapped(two, 0) && is_mapped(two, 65_536) && !is_mapped(two, 65_537));
        assert!(!is_mapped("nonsense\n1 2\n", 1));
    }
}
