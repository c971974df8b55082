package logstore

// Subscription is a subscription filter of a group. It determines where matching events are delivered.
type Subscription struct {
	Name         string `json:"name"`
	Pattern      string `json:"pattern"`
	Destination  string `json:"destination"` // an ARN
	Role         string `json:"role,omitempty"`
	Distribution string `json:"distribution,omitempty"`
	Created      int64  `json:"created"` // in milliseconds since 1970
	// Since is the time of its last change, in milliseconds since 1970; earlier events are not delivered. It is 0 for
	// a filter of a version that did not store positions.
	Since int64 `json:"since,omitempty"`
}

// MetricFilter is a metric filter of a group. It determines the metric data of matching events.
type MetricFilter struct {
	Name      string `json:"name"`
	Pattern   string `json:"pattern"`
	Namespace string `json:"namespace"`
	Metric    string `json:"metric"`
	// Value is a number, or a selector such as $.latency that finds a number in the event.
	Value string `json:"value"`
	Unit  string `json:"unit,omitempty"`
	// Default is the value for a minute with events of which none matches; nil means none.
	Default *float64 `json:"default,omitempty"`
	// Dimensions maps the names of dimensions to selectors that find their values in the event.
	Dimensions map[string]string `json:"dimensions,omitempty"`
	Created    int64             `json:"created"` // in milliseconds since 1970
}
