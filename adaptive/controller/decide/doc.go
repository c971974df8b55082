// Package decide is the pure half of the controller: it takes measurements and returns a [Decision] with its reasons.
//
// [Next] looks at every state of one state machine ([Subject]): its Retry array according to the table (the base),
// the measurements of the last minutes ([Measurement]), and the earlier changes ([Memory]). Its rules are few:
//
//   - R-cap: an open stream with evidence of overload keeps only as many retries as the callee's capacity covers.
//   - R-pay: a retry that recovers too little for its price is dropped.
//   - R-stretch: waits are matched to an outage that lasts.
//   - R-map: a running Map whose children overload a callee gets less concurrency, and gets it back later.
//   - R-restore: when things are calm, everything returns to the base.
//   - watch: a change after which success is worse, while the callee is no worse, is rolled back, and the controller
//     pauses for a day.
//
// Guards surround the rules. Missing, late, duplicate, contradictory or absurd numbers result in no decision, and the
// reasons say so. No setting leaves the bounds of the base and of AWS. There are at most two changes an hour, and
// reversals are an hour apart. A definition edited by hand is left alone.
//
// The source's rules of section 5.1, its adaptive delay and its load factor are special cases ([StepsFor],
// [AdaptiveDelay], [LoadFactor]) behind the same guards: the delay stretches what the rules change, and never causes
// a change by itself.
//
// The package does no I/O and reads no clock.
package decide
