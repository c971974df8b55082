// Package sns is the embedded SNS of the laptop: topics whose messages are kept in a file of JSON Lines, where a person
// or a test can read what would have been sent, and handed to a subscriber function. Its API is SNS's query protocol,
// with the operations CreateTopic, DeleteTopic, GetTopicAttributes, ListTopics and Publish.
//
// It holds SNS's limits and gives SNS's error codes. It delivers to nothing outside the process, does not retry a
// delivery, and knows no subscriptions, filters, attributes, FIFO topics or batches.
package sns
