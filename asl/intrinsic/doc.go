// Package intrinsic evaluates the intrinsic functions of Amazon States Language, such as States.Format('Hello {}', $.name),
// with the results that AWS Step Functions gives.
//
// A call is compiled once and evaluated many times; a compiled Call is immutable and safe for concurrent use. Results are
// bounded in size, so that no combination of calls can fill the memory.
//
// The package draws no randomness and reads no data of its own: both come from the caller's Env, so that an evaluation can be
// repeated exactly.
package intrinsic
