package secretsmanager

// WaitForRotations waits until no rotation is under way.
func (s *Service) WaitForRotations() { s.rotating.Wait() }
