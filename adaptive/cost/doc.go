// Package cost computes, item by item and from dated prices, what runs cost on AWS: an import of rows with each shape
// of the state machine, and executions of any definition including their retries.
//
// It is pure arithmetic over stated assumptions. It knows nothing of an account: no free tiers, no discounts.
package cost
