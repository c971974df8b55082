// Package worth decides whether another attempt is worth what it costs (M12): its expected value, the probability of
// success times the value of a success, against the price of a state transition, of the function's time and request,
// of the delay, and of the load on a callee that has none to spare.
//
// Prices are data with a date, by region ([PricesOf]); a fixed threshold of the probability is never used. What is
// unknown is never made up: without a probability the answer is to retry, and says why.
//
// In a workflow the answer "not worth it" is the error name RetryNotWorthwhile, which the table catches as a dead
// letter.
package worth
