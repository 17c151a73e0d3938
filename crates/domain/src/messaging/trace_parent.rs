//! The trace context of a message, in the format of the header `traceparent` (W3C Trace Context). It connects the spans
//! of the sender with those of the receiver, and is neither signed nor encrypted.

use std::fmt;

/// The position of a message in a distributed trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceParent {
    /// Id of the whole trace. Never zero.
    pub trace_id: [u8; 16],
    /// Id of the calling span. Never zero.
    pub parent_id: [u8; 8],
    /// The flags "sampled" and "random trace id". Other bits are zero.
    pub flags: u8,
}

impl TraceParent {
    /// Returns the context of the first span of a new, sampled trace. The random bytes become the trace id and the id
    /// of the span.
    pub fn root(random: [u8; 24]) -> Self {
        let mut trace = Self { trace_id: [0; 16], parent_id: [0; 8], flags: SAMPLED };
        let (trace_id, span_id) = random.split_at(trace.trace_id.len());
        trace.trace_id.copy_from_slice(trace_id);
        trace.parent_id.copy_from_slice(span_id);
        trace
    }

    /// Returns the parent id in hexadecimal digits.
    pub fn span_id(self) -> String {
        hex::encode(self.parent_id)
    }

    /// Returns true if the caller records the trace.
    pub fn is_sampled(self) -> bool {
        self.flags & SAMPLED != 0
    }

    /// Parses the value of the header `traceparent`. `None` if the value is invalid; callers then ignore the header.
    /// Ignores the further fields of later versions, as the standard requires.
    pub fn parse(header: &str) -> Option<Self> {
        let (version, rest) = header.split_once('-')?;
        let [version] = lower_hex(version)?;
        let (trace_id, rest) = rest.split_once('-')?;
        let (parent_id, rest) = rest.split_once('-')?;
        let (flags, further) =
            rest.split_once('-').map_or((rest, None), |(flags, further)| (flags, Some(further)));
        if version == FORBIDDEN_VERSION || (version == 0 && further.is_some()) {
            return None;
        }
        let [flags] = lower_hex(flags)?;
        Self::checked(lower_hex(trace_id)?, lower_hex(parent_id)?, flags)
    }

    /// Parses the stored form, as [`to_bytes`](Self::to_bytes) returns it. `None` if the bytes are not a valid trace
    /// context.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (trace_id, rest) = bytes.split_first_chunk()?;
        let (parent_id, rest) = rest.split_first_chunk()?;
        let [flags] = rest else { return None };
        Self::checked(*trace_id, *parent_id, *flags)
    }

    /// Returns the stored form: trace id, parent id and flags.
    pub fn to_bytes(self) -> [u8; 25] {
        let mut bytes = [self.flags; 25];
        bytes[..16].copy_from_slice(&self.trace_id);
        bytes[16..24].copy_from_slice(&self.parent_id);
        bytes
    }

    /// Returns the context for the next step of the trace: the same trace and flags, and the given span as parent.
    /// Replaces the span id 0 by 1, because the standard forbids 0.
    #[must_use]
    pub fn with_parent(self, span_id: [u8; 8]) -> Self {
        let parent_id = u64::from_be_bytes(span_id).max(1).to_be_bytes();
        Self { parent_id, ..self }
    }

    fn checked(trace_id: [u8; 16], parent_id: [u8; 8], flags: u8) -> Option<Self> {
        let is_valid = trace_id != [0; 16] && parent_id != [0; 8];
        is_valid.then_some(Self { trace_id, parent_id, flags: flags & KNOWN_FLAGS })
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { trace_id, parent_id, flags } = self;
        write!(f, "00-{}-{}-{flags:02x}", hex::encode(trace_id), hex::encode(parent_id))
    }
}

/// Decodes lower-case hexadecimal digits, the only ones that the standard allows.
fn lower_hex<const LEN: usize>(text: &str) -> Option<[u8; LEN]> {
    let mut bytes = [0; LEN];
    let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    (is_lower && hex::decode_to_slice(text, &mut bytes).is_ok()).then_some(bytes)
}

/// The `tracing` target of log events that report finished spans, for an exporter of spans. Their level is `TRACE`.
///
/// Each log event has the fields below. All further fields are attributes of the span.
///
/// - `span`: the name
/// - `kind`: `client`, `internal` or `server`
/// - `trace`: a [`TraceParent`]. Its parent id is the id of the span itself.
/// - `parent`: the id of the parent span in hexadecimal digits; absent without a parent
/// - `duration_ns` and `is_error`
pub const SPAN_TARGET: &str = "span";

const SAMPLED: u8 = 1;
const FORBIDDEN_VERSION: u8 = 0xff;
/// "Sampled" (version 1 of the standard) and "random trace id" (version 2). The standard requires zero for all other
/// flags.
const KNOWN_FLAGS: u8 = 0b11;

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_valid_header_is_read_written_and_stored_unchanged() {
        for flags in ["00", "01", "02", "03"] {
            let header = format!("{}{flags}", VALID.strip_suffix("01").unwrap());
            let trace = TraceParent::parse(&header).unwrap();
            assert_eq!(trace.to_string(), header);
            assert_eq!(TraceParent::from_bytes(&trace.to_bytes()), Some(trace));
        }
    }

    #[test]
    fn later_versions_may_have_further_fields_and_unknown_flags_are_cleared() {
        for later in [
            "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-the-future-brings",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-f9",
        ] {
            assert_eq!(TraceParent::parse(later).unwrap().to_string(), VALID, "{later}");
        }
    }

    #[test]
    fn invalid_headers_are_ignored() {
        let zero_trace = VALID.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32));
        let zero_parent = VALID.replace("b7ad6b7169203331", &"0".repeat(16));
        let invalid = [
            "",
            "00",
            "garbage",
            &VALID.replacen("00-", "ff-", 1),
            &VALID.replacen("00-", "0-", 1),
            &VALID.to_uppercase(),
            &VALID.replace("-01", "-1"),
            &VALID.replace("-01", "-0x"),
            &VALID.replace("-01", ""),
            &VALID.replace('-', "_"),
            &VALID.replace("b7ad", "b7a"),
            &format!("{VALID}-"),
            &format!("{VALID}-00"),
            &format!(" {VALID}"),
            "00-0af7651916cd43dd8448eb211c80319ü-b7ad6b7169203331-01",
            &zero_trace,
            &zero_parent,
        ];
        for header in invalid {
            assert_eq!(TraceParent::parse(header), None, "{header}");
        }
    }

    #[test]
    fn a_new_parent_keeps_the_trace_and_is_never_zero() {
        let trace = TraceParent::parse(VALID).unwrap();
        let header = "00-0af7651916cd43dd8448eb211c80319c-0000000000000001-01";
        assert_eq!(trace.with_parent([0; 8]).to_string(), header);
        let header = "00-0af7651916cd43dd8448eb211c80319c-0707070707070707-01";
        assert_eq!(trace.with_parent([7; 8]).to_string(), header);
    }
}
