package sqs

// WaitForMoves waits until no message move task is running.
func (s *Service) WaitForMoves() { s.moving.Wait() }
