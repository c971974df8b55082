package local

import "context"

// AwaitRecount waits until the retries that an earlier process may not have stored have been counted again.
func AwaitRecount(ctx context.Context, p *Platform) error { return p.metrics.awaitRecount(ctx) }
