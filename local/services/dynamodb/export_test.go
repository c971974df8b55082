package dynamodb

// WaitForSweeps waits until no sweep is under way.
func (s *Service) WaitForSweeps() { s.underWay.Wait() }
