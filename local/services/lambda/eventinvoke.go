package lambda

import (
	"stepback/aws/server"
	"stepback/local/services/lambda/functions"
)

// eventInvokeConfig is the configuration for asynchronous invocation, as the API returns it.
type eventInvokeConfig struct {
	functions.EventInvokeSettings
	FunctionArn  string
	LastModified server.Time
}

func shownEventInvokeConfig(c *functions.EventInvokeConfig) *eventInvokeConfig {
	shown := &eventInvokeConfig{c.EventInvokeSettings, c.FunctionArn, server.Time(c.LastModified)}
	if shown.DestinationConfig == nil {
		shown.DestinationConfig = &functions.DestinationConfig{}
	}
	return shown
}

func (s *Service) putEventInvokeConfig(q *request) (*server.Answer, error) {
	return s.setEventInvokeConfig(q, false)
}

func (s *Service) updateEventInvokeConfig(q *request) (*server.Answer, error) {
	return s.setEventInvokeConfig(q, true)
}

func (s *Service) setEventInvokeConfig(q *request, update bool) (*server.Answer, error) {
	in, err := decode[functions.EventInvokeSettings](q)
	if err != nil {
		return nil, err
	}
	c, err := s.functions.PutEventInvokeConfig(q.ctx, q.scope, q.name.Function, q.name.Qualifier, in, update)
	if err != nil {
		return nil, err
	}
	return answer(shownEventInvokeConfig(c), nil)
}

func (s *Service) getEventInvokeConfig(q *request) (*server.Answer, error) {
	c, err := s.functions.EventInvokeConfig(q.scope, q.name.Function, q.name.Qualifier)
	if err != nil {
		return nil, err
	}
	return answer(shownEventInvokeConfig(c), nil)
}

func (s *Service) deleteEventInvokeConfig(q *request) (*server.Answer, error) {
	return done(s.functions.DeleteEventInvokeConfig(q.ctx, q.scope, q.name.Function, q.name.Qualifier))
}

func (s *Service) listEventInvokeConfigs(q *request) (*server.Answer, error) {
	list, err := s.functions.EventInvokeConfigs(q.scope, q.name.Function)
	if err != nil {
		return nil, err
	}
	shown := make([]*eventInvokeConfig, len(list))
	for i := range list {
		shown[i] = shownEventInvokeConfig(&list[i])
	}
	page, next, err := pageOf(q, shown, func(c *eventInvokeConfig) string { return c.FunctionArn })
	return answer(struct {
		FunctionEventInvokeConfigs []*eventInvokeConfig
		NextMarker                 string `json:",omitempty"`
	}{page, next}, err)
}
