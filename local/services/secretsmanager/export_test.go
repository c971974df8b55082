package secretsmanager

// WaitForRotations waits until no rotation is running.
func (s *Service) WaitForRotations() { s.rotating.Wait() }
