package faultscenario

import (
	"context"

	outbox "stepback/outbox/rehearsal"
)

// outboxStory runs the course's three exercises on the outbox, with an operator.
var outboxStory = Scenario{
	About: "the receiver of an outbox is down and loses responses, payloads are broken, and an operator fixes and redrives them",
	Run: func(ctx context.Context, o Options) (*Report, error) {
		story, err := outbox.Run(ctx, o.Seed)
		if err != nil {
			return nil, err
		}
		r := &Report{Scenario: "outbox", Seed: o.Seed, Lasted: story.Lasted.Seconds()}
		r.About = "an outbox whose receiver is down, and the operator's response"
		for _, m := range story.Timeline {
			r.Timeline = append(r.Timeline, Moment{m.At.Seconds(), m.What})
		}
		for _, c := range story.Checks {
			r.Holds(c.Passed, c.What, "%s", c.Got)
		}
		r.finish()
		return r, nil
	},
}
