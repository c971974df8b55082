// Package retries implements the verbs that explain, review and analyze retries, simulate and predict their outcome,
// compute their cost, draw their dashboard, and adapt them to what is measured.
package retries
