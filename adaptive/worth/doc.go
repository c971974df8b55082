// Package worth decides whether another attempt is worth its cost (M12). It compares the expected value of the
// attempt (the probability of success times the value of a success) with its cost. The cost is the price of a state
// transition, of the function's time and request, of the delay, and of the load on a callee that has no spare
// capacity.
//
// Prices are data with a date, by region ([PricesOf]). The package never uses a fixed threshold of the probability,
// and never makes up unknown values: without a probability the decision is to retry, and the reason says why.
//
// In a workflow the decision "not worth it" is reported by the error name RetryNotWorthwhile, which the table
// catches as a dead letter.
package worth
