// Package poison tells records that always fail from a callee that is ill.
//
// The failures of one record do not show which of the two is the cause. Those of other records do. If so many calls
// fail that the record's failures are plausible for any record, the callee is ill, and a record that waits will succeed
// later ([State.Blameless]). If first attempts succeed while retries of the records that failed do not, another retry
// is futile ([State.Futile]): it holds the callee for nothing.
//
// [State] compares like with like. It divides time into slices, and compares the retries of a slice with its first
// attempts. It counts them by the number of the retry, because a record that fails for the second time is more likely
// to be poison than one that fails for the first time: with 4 % of poison and 5 % of chance errors, half of the first
// retries succeed and hardly any second one does. It counts retries after timeouts apart from those after errors,
// because ordinary records time out when the callee is slow.
package poison
