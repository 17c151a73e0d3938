//! A macro for enums whose variants have names in JSON, SQL or logs.

/// Defines an enum whose variants have names in JSON, SQL or logs: `Variant = "name"`. Adds the constant `ALL`
/// and the functions `as_str` and `from_name`.
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$doc:meta])*
        $visibility:vis enum $type:ident {
            $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$doc])*
        $visibility enum $type {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $type {
            /// All variants, in the order of the enum.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the name of the variant in JSON, SQL or logs.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Returns the variant with this name. `None` if the name is unknown.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|variant| variant.as_str() == name)
            }
        }
    };
}

pub(crate) use named_enum;
