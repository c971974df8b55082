package cloudformation

import (
	"context"
	"strconv"
	"time"

	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/cloudformation/template"
)

// waitCreate waits for the signals of a wait condition.
func (s *Service) waitCreate(ctx context.Context, r *resource.Request) (resource.State, error) {
	handle, _ := r.Properties["Handle"].(string)
	seconds, err := strconv.Atoi(textOr(r.Properties["Timeout"], ""))
	if err != nil || seconds < 0 || seconds > 43_200 {
		return resource.State{}, &resource.PropertyError{Problems: []string{"#/Timeout: must be a number of seconds up to 43200"}}
	}
	count, err := strconv.Atoi(textOr(r.Properties["Count"], "1"))
	if err != nil || count < 0 {
		return resource.State{}, &resource.PropertyError{Problems: []string{"#/Count: must be a number"}}
	}
	token := tokenOf(handle)
	changed := s.expect(token)
	defer s.forgetExpected(token)
	end := s.now().Add(time.Duration(seconds) * time.Second)
	defer s.opts.Clock.Schedule(end, changed).Stop()
	defer recordOf(ctx).d.waits.ring(changed)()
	for {
		all, err := s.answers(token)
		if err != nil {
			return resource.State{}, err
		}
		data := map[string]any{}
		for _, a := range all {
			if a.Status == "FAILURE" {
				return resource.State{}, invalid("WaitCondition received failed message: '%s' for uniqueId: %s", a.Reason, a.UniqueID)
			}
			data[a.UniqueID] = a.Data[""]
		}
		if len(all) >= count {
			return resource.State{ID: r.StackID + "/" + r.Name(128) + "/" + handle, Attributes: map[string]any{
				"Data": template.JSON(data)}}, nil
		}
		switch {
		case !s.now().Before(end):
			return resource.State{}, invalid("WaitCondition timed out. Received %d conditions when expecting %d", len(all), count)
		case r.GiveUp.Err() != nil:
			return resource.State{}, context.Cause(r.GiveUp) //nolint:contextcheck // its cause is the error
		}
		if err := changed.Await(ctx); err != nil {
			return resource.State{}, err
		}
	}
}

func textOr(v any, def string) string {
	if text, ok := template.TextOf(v); ok {
		return text
	}
	return def
}

var nestedProperties = map[string]resource.Property{"TemplateURL": {Required: true}, "Parameters": {}, "Tags": {},
	"TimeoutInMinutes": {}, "NotificationARNs": {}}
