//! Enumerations that people name by words.

/// An enumeration whose values have names in files: the type, all of its values, their names, and serde by name.
///
/// ```
/// sojourn_units::words! {
///     /// A direction through the bottleneck.
///     pub enum Direction {
///         /// Client to server.
///         Up = "up",
///         /// Server to client.
///         Down = "down",
///     }
/// }
/// assert_eq!(Direction::ALL, [Direction::Up, Direction::Down]);
/// assert_eq!(Direction::Down.name(), "down");
/// assert_eq!(Direction::from_name("up"), Some(Direction::Up));
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Type:ident {
            $($(#[$about:meta])* $Word:ident = $name:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $Type {
            $($(#[$about])* $Word,)+
        }

        impl $Type {
            /// All, in the order of listing.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$Word),+];
            /// Their names.
            pub const NAMES: [&'static str; [$($name),+].len()] = [$($name),+];

            /// Its name in files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Word => $name,)+
                }
            }

            /// The one of this name; `None` for any other name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.name() == name)
            }
        }

        impl $crate::macros::serde::Serialize for $Type {
            fn serialize<S: $crate::macros::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> $crate::macros::serde::Deserialize<'de> for $Type {
            fn deserialize<D: $crate::macros::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::macros::choose(deserializer, &Self::ALL, &Self::NAMES)
            }
        }

        impl $crate::macros::JsonSchema for $Type {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($Type).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut $crate::macros::SchemaGenerator) -> $crate::macros::Schema {
                $crate::macros::json_schema!({"type": "string", "enum": Self::NAMES})
            }
        }
    };
}
