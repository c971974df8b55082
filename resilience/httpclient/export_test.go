package httpclient

import "time"

// SetPatience is for tests: how long a transport reads a body that nobody gets.
func (t *Transport) SetPatience(d time.Duration) { t.patience = d }
