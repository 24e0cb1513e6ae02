//! What a kernel is told of classes.

use super::QdiscSpec;
use crate::classful::Classes;
use crate::netlink::{Added, KernelBelow, OptionValue, Options, number};
use crate::{ParamError, TX_QUEUE_LEN};

impl Classes<QdiscSpec> {
    /// All that is below the discipline with the number `own`. `next` is the number of the next discipline.
    ///
    /// # Errors
    /// [`ParamError`] for a value that the kernel's interface cannot carry.
    pub(crate) fn tell(&self, own: u16, next: &mut u16, all: &mut Vec<KernelBelow>) -> Result<(), ParamError> {
        for class in &self.list {
            let Some(options) = class.own.kernel()? else { continue };
            all.push(KernelBelow {
                adds: Added::Class,
                parent: (own, class.parent),
                id: (own, class.minor),
                kind: self.kind.to_owned(),
                options: options.into_iter().collect(),
            });
        }
        for class in &self.list {
            let Some(qdisc) = &class.qdisc else { continue };
            let options: Options = qdisc.0.kernel()?.into_iter().collect();
            if qdisc.kind() == "pfifo_fast" && number(&options, "limit") != i64::from(TX_QUEUE_LEN) {
                let value = number(&options, "limit").to_string();
                let rule = format!("{TX_QUEUE_LEN} below a class: a kernel takes it from the device");
                return Err(ParamError::new("pfifo_fast", "limit", value, rule));
            }
            let number = *next;
            *next += 1;
            all.push(KernelBelow {
                adds: Added::Qdisc,
                parent: (own, class.minor),
                id: (number, 0),
                kind: qdisc.kind().to_owned(),
                options,
            });
            if let Some(below) = qdisc.0.classes() {
                below.tell(number, next, all)?;
            }
        }
        // One filter for each code point. They are asked in the order of their priorities.
        let mut priority = 0;
        for filter in &self.filters {
            let codes: Vec<Option<i64>> = match filter.codes {
                u64::MAX => vec![None],
                codes => (0..64).filter(|code| codes >> code & 1 == 1).map(Some).collect(),
            };
            for code in codes {
                priority += 1;
                let mut options = Options::from([("priority".to_owned(), OptionValue::Number(priority))]);
                options.extend(code.map(|code| ("dscp".to_owned(), OptionValue::Number(code))));
                all.push(KernelBelow {
                    adds: Added::Filter,
                    parent: (own, filter.parent),
                    id: (own, filter.class),
                    kind: "u32".to_owned(),
                    options,
                });
            }
        }
        if priority > i64::from(u16::MAX) {
            let rule = format!("at most {} code points in all, one filter of a kernel each", u16::MAX);
            return Err(ParamError::new("filter", "dscp", priority.to_string(), rule));
        }
        Ok(())
    }
}
