//! Congestion controls from outside these crates: a program registers one, and every scenario may name it from then on.

use super::{Algorithm, CongestionControl, Needs};
use std::hash::{Hash, Hasher};
use std::sync::{PoisonError, RwLock};

/// A control that can be cloned, in a box. Any [`CongestionControl`] that is `Clone` is one.
pub trait CloneControl: CongestionControl + Send + Sync {
    /// The same in the same state.
    fn boxed_clone(&self) -> Box<dyn CloneControl>;
}

impl<C: CongestionControl + Clone + Send + Sync + 'static> CloneControl for C {
    fn boxed_clone(&self) -> Box<dyn CloneControl> {
        Box::new(self.clone())
    }
}

/// A congestion control from outside, as [`register`] takes it.
#[derive(Clone, Copy, Debug)]
pub struct OwnControl {
    /// Its name: what `congestion_control` of a flow says.
    pub name: &'static str,
    /// What it needs of its sender.
    pub needs: Needs,
    /// Its answer to marks is scalable (RFC 9331 section 4.3): it negotiates AccECN, and sends with ECT(1).
    pub scalable: bool,
    /// A fresh controller of one connection.
    pub build: fn() -> Box<dyn CloneControl>,
}

/// Two are the same if they have one name: a name is registered once.
impl PartialEq for OwnControl {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for OwnControl {}

impl Hash for OwnControl {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

static REGISTRY: RwLock<Vec<&'static OwnControl>> = RwLock::new(Vec::new());

/// Registers a control for the whole program: a flow may name it from then on, as it names `cubic`.
///
/// Only the simulator has it; a kernel is never asked for it. The example `own_control` of sojourn-sim shows one whole.
///
/// # Errors
/// A sentence if the name is that of another control, or not made of small letters, digits, `-` and `_`.
pub fn register(control: OwnControl) -> Result<Algorithm, String> {
    let name = control.name;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(plain) {
        return Err(format!(
            "the control is {name:?}, but must be made of small letters, digits, - and _"
        ));
    }
    let mut controls = REGISTRY.write().unwrap_or_else(PoisonError::into_inner);
    let known = Algorithm::ALL.iter().any(|known| known.name() == name);
    if known || controls.iter().any(|own| own.name == name) {
        return Err(format!("the control is {name:?}, but must be the name of no other one"));
    }
    // A control is there for as long as the program.
    let own: &'static OwnControl = Box::leak(Box::new(control));
    controls.push(own);
    Ok(Algorithm::Own(own))
}

/// The controls that are registered.
pub(super) fn registered() -> Vec<&'static OwnControl> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A controller from outside at work.
#[derive(Debug)]
pub struct Own {
    about: &'static OwnControl,
    pub(super) control: Box<dyn CloneControl>,
}

impl Clone for Own {
    fn clone(&self) -> Self {
        Self {
            about: self.about,
            control: self.control.boxed_clone(),
        }
    }
}

impl Own {
    pub(super) fn new(about: &'static OwnControl) -> Self {
        Self {
            about,
            control: (about.build)(),
        }
    }

    /// Whether Reno takes its place if there is no AccECN.
    pub(super) const fn gives_way(&self) -> bool {
        self.about.scalable
    }
}
