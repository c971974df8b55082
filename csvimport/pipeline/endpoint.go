package pipeline

// Endpoint is the URL at which the platform of the pipeline serves its APIs.
func (p *Pipeline) Endpoint() string { return p.platform.Endpoint }
