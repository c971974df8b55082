package queue

// Remember records that the message with a sequence number was sent under a deduplication key.
func (q *Queue) Remember(at int64, key string, seq uint64) { q.sent.put(at, key, seq) }

// Duplicate returns the sequence number of the message that was sent under a deduplication key in the last five
// minutes, whether or not it is still in the queue.
func (q *Queue) Duplicate(now int64, key string) (uint64, bool) { return q.sent.get(now, key) }

// Forget removes the deduplication keys older than five minutes and returns them.
func (q *Queue) Forget(now int64) []string { return q.sent.expire(now) }
