package dynamodb

// WaitForSweeps waits until no sweep is running.
func (s *Service) WaitForSweeps() { s.underWay.Wait() }
