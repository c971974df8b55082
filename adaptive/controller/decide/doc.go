// Package decide is the pure half of the controller: what was measured goes in, a [Decision] with its reasons comes
// out.
//
// [Next] looks at every state of one state machine ([Subject]): what its Retry array is by the table (the base), what
// the last minutes measured ([Measurement]), and what was changed before ([Memory]). Its rules are few:
//
//   - R-cap: an open stream with evidence of overload keeps only as many retries as the callee's capacity covers.
//   - R-pay: a retry that recovers too little for its price is dropped.
//   - R-stretch: waits are matched to an outage that lasts.
//   - R-map: a running Map whose children overload a callee gets less concurrency, and gets it back.
//   - R-restore: when things are calm, everything goes back to the base.
//   - watch: a change after which success is worse, while the callee is no worse, is rolled back, and the controller
//     pauses a day.
//
// Guards stand around them: nothing is decided on missing, late, duplicate, contradictory or absurd numbers, and it
// says so; no setting leaves the base's and AWS's bounds; changes are at most two an hour and reversals an hour
// apart; a definition edited by hand is left alone.
//
// The source's rules of section 5.1, its adaptive delay and its load factor are special cases ([StepsFor],
// [AdaptiveDelay], [LoadFactor]) behind the same guards: the delay stretches what the rules change, and is no reason to
// change anything.
//
// The package does no I/O and reads no clock.
package decide
