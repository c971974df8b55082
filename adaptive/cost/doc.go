// Package cost computes what runs cost on AWS, by item, from dated prices: an import of rows in each shape of the state
// machine, and executions of any definition, with what retries add.
//
// It is pure arithmetic over stated assumptions, and knows no account: no free tiers, no discounts.
package cost
