// Package dataflow finds what goes wrong with the values of a valid definition on some path through its states: a
// variable that is read where no state has assigned it, a function that JSONata in Step Functions does not have, and an
// operator whose operand has a type that cannot be. AWS accepts all of them, and the execution fails. The findings are
// warnings.
//
// The package does no I/O and evaluates nothing.
package dataflow
