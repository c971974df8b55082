// Package sns is the embedded SNS of the laptop: topics whose messages are kept in a file of JSON Lines, where a person
// or a test can read what would have been sent, and handed to a subscriber function.
//
// It holds SNS's limits and gives SNS's error codes. It delivers to nothing outside the process, does not retry a
// delivery, and knows no filters, attributes, FIFO topics or batches.
package sns
