package local

import (
	"time"

	"stepback/aws"
	"stepback/local/services/cloudwatch/datapoints"
)

// measureQueues records the metrics of the queues once a minute, as AWS/SQS does: the counts belong to the minute
// that has just ended. At the end of the process they belong to the current minute.
func (m *meter) measureQueues(p *Platform, ending bool) {
	if p.Queues == nil {
		return
	}
	now := p.Clock.Now()
	minute := now.Unix() / 60
	m.mu.Lock()
	before := m.sampled
	due := ending || before != 0 && minute > before
	if due || before == 0 {
		m.sampled = minute
	}
	m.mu.Unlock()
	if !due {
		return
	}
	at := now
	if !ending {
		at = time.Unix(60*(minute-1), 0)
	}
	m.measureEngines(at)
	m.measureDurable(at)
	for _, q := range p.Queues.Measure() {
		of := measure{scope: q.Scope, namespace: "AWS/SQS", dimension: "QueueName", resource: q.Queue}
		for name, n := range map[string]int64{
			"NumberOfMessagesSent": q.Sent, "NumberOfMessagesReceived": q.Received, "NumberOfMessagesDeleted": q.Deleted,
			"NumberOfEmptyReceives": q.Empty, "ApproximateNumberOfMessagesVisible": int64(q.Visible),
			"ApproximateNumberOfMessagesNotVisible": int64(q.InFlight), "ApproximateNumberOfMessagesDelayed": int64(q.Delayed),
		} {
			m.add(of, at, name, "Count", float64(n))
		}
		m.add(of, at, "ApproximateAgeOfOldestMessage", "Seconds", q.Oldest.Seconds())
		if q.Sent > 0 {
			m.merge(of, at, "SentMessageSize", "Bytes", &datapoints.Summary{Count: float64(q.Sent), Sum: float64(q.Bytes),
				Min: float64(q.Least), Max: float64(q.Most), Incomplete: true})
		}
	}
}

// topicCounts records a metric of a topic, as AWS/SNS does.
func (p *Platform) topicCounts(scope aws.Scope, topic, metric string, value, n float64) {
	of := measure{scope: scope, namespace: "AWS/SNS", dimension: "TopicName", resource: topic}
	unit := "Count"
	if metric == "PublishSize" {
		unit = "Bytes"
	}
	p.meter.addTimes(of, p.Clock.Now(), metric, unit, value, n)
}

// ruleCounts records a metric of a rule, as AWS/Events does: by the rule's name and, for a bus other than the
// default one, also by the bus's name.
func (p *Platform) ruleCounts(scope aws.Scope, bus, rule, metric string, n float64) {
	of := measure{scope: scope, namespace: "AWS/Events", dimension: "RuleName", resource: rule}
	if bus != "default" {
		of.bus = bus
	}
	p.meter.addTimes(of, p.Clock.Now(), metric, "Count", 1, n)
}
