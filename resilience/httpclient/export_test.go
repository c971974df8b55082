package httpclient

import "time"

// SetPatience sets, for tests, how long a transport reads a response's body that it does not return.
func (t *Transport) SetPatience(d time.Duration) { t.patience = d }
