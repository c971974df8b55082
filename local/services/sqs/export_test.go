package sqs

// WaitForMoves waits until no task moves messages.
func (s *Service) WaitForMoves() { s.moving.Wait() }
