"""The quality of a telephone call as a mean opinion score (MOS), from one-way delay and loss.

| function              | model                                                    | 100 ms, no loss | 100 ms, 1 % |
|-----------------------|----------------------------------------------------------|-----------------|-------------|
| `mos_g107`            | the E-model with its default values: the one to quote    | 4.35            | 3.72        |
| `mos_cole_rosenbluth` | its common simplification                                | 4.38            | 4.28        |
| `mos_practitioner`    | a rule of thumb of call-quality calculators              | 4.35            | 4.29        |

They differ widely under loss, so a plot or table must name the model. All take the delay in milliseconds and the loss
as a **fraction** from 0 to 1, as `lost / sent` of a record gives it, and end with the same mapping from the rating R
to the MOS, which runs from 1 to 4.5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sojourn.errors import ParamError, refused
from sojourn.record import ProbeRecord
from sojourn.schema import or_null, required

# Default values of the E-model; names as in G.107 table 3, values in dB or dBm0p.
_SLR, _RLR = 8.0, 2.0
_TELR, _WEPL = 65.0, 110.0
#: Sum of all noise (No) and of the simultaneous impairments (Is), with everything else at its default.
_NO, _IS = -61.179, 1.414
#: The basic signal-to-noise ratio (equation 7-2).
_RO = 15.0 - 1.5 * (_SLR + _NO)


@dataclass(frozen=True, slots=True, kw_only=True)
class Codec:
    """What the E-model knows of a codec."""

    #: Equipment impairment factor without loss.
    ie: float
    #: Packet-loss robustness factor: the percentage of loss that costs half of what is left of the rating.
    bpl: float


#: Source: ITU-T G.113 Appendix I (planning values). `g711` is without loss concealment, as Flent takes it. Opus is
#: refused: the narrow-band model has no planning values for it, and those of another codec would be a guess.
CODECS = {
    "g711": Codec(ie=0.0, bpl=4.3),
    "g711 plc": Codec(ie=0.0, bpl=25.1),
    "g729a": Codec(ie=11.0, bpl=19.0),
}


def effective_delay_ms(delay_ms: float, ipdv_ms: float) -> float:
    """Return the delay to give to a model: the mean one-way delay and twice the mean `|IPDV|`, all in ms.

    The second part stands for a playout buffer that hides jitter; it is what Flent adds. No codec delay is added.
    Raises `ParamError` if one of them is negative or not a number.
    """
    _not_negative("delay_ms", delay_ms)
    _not_negative("ipdv_ms", ipdv_ms)
    return delay_ms + 2.0 * ipdv_ms


def mos_of_stream(stream: ProbeRecord) -> float | None:
    """Return the score of a voice stream of a record by `mos_g107`, fed as Flent does (`effective_delay_ms`).

    `None` for a codec that the model has no factors for, or if nothing was sent. Of a stream of which nothing arrived
    it is 1, the worst.
    """
    if stream.codec is None or stream.codec not in CODECS or not stream.sent:
        return None
    if stream.lost == stream.sent:
        return 1.0
    delay = required(stream.delay_ms, "delay_ms")
    felt = effective_delay_ms(required(delay.mean, "delay_ms.mean"), or_null(stream.ipdv_ms) or 0.0)
    return mos_g107(felt, stream.lost / stream.sent, codec=stream.codec)


def mos_g107(delay_ms: float, loss: float, *, codec: str | Codec = "g711") -> float:
    """Return the MOS by the E-model with all its default values.

    Source: ITU-T G.107 sections 7.1 to 7.5 and Annex B; `A` = 0 and `BurstR` = 1 (random loss). With `g711` this is
    what Flent calls `mos_score`. Noise (No) and simultaneous impairments (Is) are those of the default values. Raises
    `ParamError` if the delay is negative, the loss outside 0 to 1, or the codec unknown.

    Parameters
    ----------
    delay_ms
        One-way delay from mouth to ear, see `effective_delay_ms`.
    loss
        Fraction of packets lost, 0 to 1.
    codec
        A name of `CODECS`, or the two factors of another codec. Opus has none and is refused by name.
    """
    _not_negative("delay_ms", delay_ms)
    _fraction("loss", loss)
    used = _codec(codec)
    percent = 100.0 * loss
    impaired = used.ie + (95.0 - used.ie) * percent / (percent + used.bpl)
    return _opinion(_RO - _IS - _delay_impairment(delay_ms) - impaired)


def mos_cole_rosenbluth(delay_ms: float, loss: float, *, codec: str = "g711") -> float:
    """Return the MOS by Cole and Rosenbluth's simplification of the E-model.

    `R = 94.2 - 0.024 d - 0.11 (d - 177.3) H(d - 177.3) - Ie`, with `Ie = 30 ln(1 + 15 e)` for `g711` and
    `11 + 40 ln(1 + 10 e)` for `g729a`, e the loss as a fraction.

    Source: R. Cole, J. Rosenbluth, "Voice over IP Performance Monitoring", ACM CCR 31 (2001). Raises `ParamError` as
    `mos_g107`.

    Parameters
    ----------
    delay_ms
        One-way delay from mouth to ear (network, codec and playout buffer).
    loss
        Fraction of packets lost, 0 to 1.
    codec
        `"g711"` or `"g729a"`; the paper fits no other.
    """
    _not_negative("delay_ms", delay_ms)
    _fraction("loss", loss)
    if codec == "g711":
        impaired = 30.0 * math.log1p(15.0 * loss)
    elif codec == "g729a":
        impaired = 11.0 + 40.0 * math.log1p(10.0 * loss)
    else:
        raise refused(codec, "codec", "must be g711 or g729a, the two this model has a fit for")
    return _opinion(94.2 - 0.024 * delay_ms - 0.11 * max(delay_ms - 177.3, 0.0) - impaired)


def mos_practitioner(delay_ms: float, loss: float, *, jitter_ms: float = 0.0) -> float:
    """Return the MOS by the rule that call-quality calculators on the web use.

    `L = d + 2 jitter + 10`; `R = 93.2 - L / 40` below 160 ms, else `93.2 - (L - 120) / 10`; then 2.5 less for each
    per cent of loss. It is no standard: it is here to compare with numbers made by it. Raises `ParamError` as
    `mos_g107`, or if the jitter is negative.

    Parameters
    ----------
    delay_ms
        One-way delay of the network.
    loss
        Fraction of packets lost, 0 to 1.
    jitter_ms
        Mean variation of the delay.
    """
    _not_negative("delay_ms", delay_ms)
    _not_negative("jitter_ms", jitter_ms)
    _fraction("loss", loss)
    total = delay_ms + 2.0 * jitter_ms + 10.0
    rating = 93.2 - (total / 40.0 if total < 160.0 else (total - 120.0) / 10.0)
    return _opinion(rating - 250.0 * loss)


def _delay_impairment(delay_ms: float) -> float:
    """Return Id: talker echo, listener echo and absolute delay (G.107 section 7.4), all with T = Ta = Tr / 2."""
    return _talker_echo(delay_ms) + _listener_echo(delay_ms) + _too_late(delay_ms)


def _talker_echo(delay_ms: float) -> float:
    if delay_ms < 1.0:
        return 0.0
    ratio = (1.0 + delay_ms / 10.0) / (1.0 + delay_ms / 150.0)
    loudness = _TELR - 40.0 * math.log10(ratio) + 6.0 * math.exp(-0.3 * delay_ms**2)
    at_receiver = -1.5 * (_NO - _RLR)
    echoed = 80.0 + 2.5 * (loudness - 14.0)
    half = (at_receiver - echoed) / 2.0
    return (half + math.sqrt(half**2 + 100.0) - 1.0) * (1.0 - math.exp(-delay_ms))


def _listener_echo(delay_ms: float) -> float:
    echoed = 10.5 * (_WEPL + 7.0) * math.pow(2.0 * delay_ms + 1.0, -0.25)
    half = (_RO - echoed) / 2.0
    return half + math.sqrt(half**2 + 169.0)


def _too_late(delay_ms: float) -> float:
    if delay_ms <= 100.0:
        return 0.0
    x = math.log2(delay_ms / 100.0)
    return 25.0 * (math.pow(1.0 + x**6, 1 / 6) - 3.0 * math.pow(1.0 + (x / 3.0) ** 6, 1 / 6) + 2.0)


def _opinion(rating: float) -> float:
    """Return the MOS of a rating (G.107 Annex B, equation B-4)."""
    if rating < 0.0:
        return 1.0
    if rating > 100.0:
        return 4.5
    return 1.0 + 0.035 * rating + 7e-6 * rating * (rating - 60.0) * (100.0 - rating)


def _codec(codec: str | Codec) -> Codec:
    if isinstance(codec, Codec):
        _not_negative("codec.ie", codec.ie)
        if not codec.bpl > 0.0:
            message = f"codec.bpl is {codec.bpl!r}, but must be above 0"
            raise ParamError(message)
        return codec
    if codec not in CODECS:
        raise refused(codec, "codec", f"must be one of {', '.join(CODECS)}, or a Codec with factors of its own")
    return CODECS[codec]


def _not_negative(field: str, value: float) -> None:
    if not (math.isfinite(value) and value >= 0.0):
        raise refused(value, field, "must be a number not below 0")


def _fraction(field: str, value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise refused(value, field, "must be a fraction from 0 to 1")
