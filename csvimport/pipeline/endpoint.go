package pipeline

// Endpoint returns the URL at which the pipeline's platform serves its APIs.
func (p *Pipeline) Endpoint() string { return p.platform.Endpoint }
