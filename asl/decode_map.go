package asl

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"stepback/jsonvalue"
)

const (
	modeInline      = "INLINE"
	modeDistributed = "DISTRIBUTED"
	standard        = "STANDARD"
	express         = "EXPRESS"
)

func (d *decoder) mapState(o object, s *State) {
	m := &MapFields{}
	s.Map = m
	o.exactlyOne("ItemProcessor", "Iterator")
	for _, key := range []string{"ItemProcessor", "Iterator"} {
		if v, ok := o.get(key); ok {
			d.enter(key)
			d.processor(v, m)
			d.iterators[m] = key == "Iterator"
			d.leave()
		}
	}
	d.items(o, m)
	m.MaxConcurrency = o.scalar("MaxConcurrency", count, referencePath)
	m.ToleratedFailureCount = o.scalar("ToleratedFailureCount", count, referencePath)
	m.ToleratedFailurePercentage = o.scalar("ToleratedFailurePercentage", percentage, referencePath)
	m.Label = d.label(o)
	d.distributedOnly(o, m)
	m.Reader = d.reader(o)
	m.Batcher = d.batcher(o)
	m.Writer = d.writer(o)
}

// processor decodes an ItemProcessor or an Iterator.
func (d *decoder) processor(v jsonvalue.Value, m *MapFields) {
	o, ok := d.object(v, processFields, JSONPath)
	if !ok {
		return
	}
	if config, ok := o.get("ProcessorConfig"); ok {
		d.enter("ProcessorConfig")
		d.processorConfig(config, m)
		d.leave()
	}
	outer := d.express
	d.express = outer || m.Execution == express
	m.Processor = d.nested(o)
	d.express = outer
}

func (d *decoder) processorConfig(v jsonvalue.Value, m *MapFields) {
	o, ok := d.object(v, configFields, JSONPath)
	if !ok {
		return
	}
	m.Distributed = o.choice("Mode", modeInline, modeDistributed) == modeDistributed
	execution := o.choice("ExecutionType", standard, express)
	switch {
	case m.Distributed:
		o.require("ExecutionType")
		m.Execution = execution
		if d.express {
			d.fail("The field 'Mode' with value 'DISTRIBUTED' is not supported inside 'EXPRESS' state machines").onKey("Mode").
				hint("use INLINE mode, or type STANDARD for the state machine")
		}
	case o.has("ExecutionType"):
		d.fail("Field 'ExecutionType' is not supported").onKey("ExecutionType").
			hint("only DISTRIBUTED mode has child executions of a type")
	}
}

// items decodes the fields that locate the items in the state's input, and the input of each iteration.
func (d *decoder) items(o object, m *MapFields) {
	m.ItemsPath = o.path("ItemsPath", referencePath).Text
	if v, ok := o.get("Items"); ok {
		m.Items = &v
		d.enter("Items")
		if _, opened := expression(v.Text()); v.Kind() == jsonvalue.String && !opened {
			d.fail("JSONata string must start with {%% and end with %%}").hint("an array, or an expression that returns one")
		}
		d.expressions(v, 0)
		d.leave()
	}
	o.atMostOne("ItemSelector", "Parameters")
	m.ItemSelector = o.template("ItemSelector", 0)
	if old := o.template("Parameters", 0); m.ItemSelector == nil {
		m.ItemSelector = old
	}
}

// distributedOnly reports fields that an inline Map would silently ignore.
func (d *decoder) distributedOnly(o object, m *MapFields) {
	if m.Distributed || m.Processor == nil {
		return
	}
	for _, key := range o.present([]string{"ItemReader", "ItemBatcher", "ResultWriter"}) {
		d.fail("Field '%s' is not supported", key).onKey(key).
			hint(`only a Map whose ProcessorConfig has "Mode": "DISTRIBUTED" has an item reader, batcher or result writer`)
	}
}

const maxLabelLength = 40

// label decodes the Label of a Map state, which becomes a part of ARNs.
func (d *decoder) label(o object) string {
	label := o.str("Label")
	if v, ok := o.get("Label"); !ok || v.Kind() != jsonvalue.String {
		return ""
	}
	d.enter("Label")
	defer d.leave()
	switch {
	case label == "":
		d.report(SeverityError, InvalidLabelName, "Label cannot be empty")
	case utf8.RuneCountInString(label) > maxLabelLength:
		d.report(SeverityError, InvalidLabelName, "Label '"+label+
			"' exceeds the 40-character limit allowed by the service")
	case !validLabel(label):
		d.report(SeverityError, InvalidLabelName, "Label contains invalid characters").
			hint("no white space, no control characters and none of ? * < > { } [ ] : ; , \\ | ^ ~ $ # % & \" `")
	case d.labels[label]:
		d.report(SeverityError, DuplicateLabelName, "Duplicate Label name: "+label)
	}
	d.labels[label] = true
	return label
}

func validLabel(s string) bool {
	for _, r := range s {
		if unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("?*<>{}[]:;,\\|^~$#%&\"`", r) {
			return false
		}
	}
	return true
}
