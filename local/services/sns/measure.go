package sns

import "stepback/aws"

// The metrics of AWS/SNS.
const (
	numberPublished   = "NumberOfMessagesPublished"
	publishSize       = "PublishSize"
	numberDelivered   = "NumberOfNotificationsDelivered"
	numberFailed      = "NumberOfNotificationsFailed"
	numberFilteredOut = "NumberOfNotificationsFilteredOut"
	numberRedriven    = "NumberOfNotificationsRedrivenToDlq"
	numberNotRedriven = "NumberOfNotificationsFailedToRedriveToDlq"
)

// count reports n occurrences of a value of a topic's metric.
func (s *Service) count(topic, metric string, value float64, n int) {
	if s.opts.Count == nil || n == 0 {
		return
	}
	a, _ := aws.ParseARN(topic)
	s.opts.Count(a.Scope(), a.Resource, metric, value, float64(n))
}

// counted reports the metrics of published messages.
func (s *Service) counted(topic string, messages []*message) {
	if s.opts.Count == nil {
		return
	}
	s.count(topic, numberPublished, 1, len(messages))
	for _, m := range messages {
		s.count(topic, publishSize, float64(m.size()), 1)
	}
}
