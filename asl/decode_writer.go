package asl

// writer decodes the ResultWriter of a distributed Map: a WriterConfig alone, a destination alone, or both.
func (d *decoder) writer(o object) *ResultWriter {
	v, ok := o.get("ResultWriter")
	if !ok {
		return nil
	}
	d.enter("ResultWriter")
	defer d.leave()
	wo, ok := d.object(v, writerFields, o.language)
	if !ok {
		return nil
	}
	wo.str("Comment")
	w := &ResultWriter{}
	if config, has := wo.get("WriterConfig"); has {
		d.enter("WriterConfig")
		if co, ok := d.object(config, writerConfig, o.language); ok {
			w.Transformation = co.choice("Transformation", "NONE", "COMPACT", "FLATTEN")
			w.OutputType = co.choice("OutputType", "JSON", "JSONL")
		}
		d.leave()
	}
	exports := wo.has("Resource") || wo.has(wo.locationField())
	if exports || !wo.has("WriterConfig") {
		if wo.require("Resource", wo.locationField()) {
			w.Resource = wo.resource("s3:putObject")
		}
		w.Parameters = wo.location()
	}
	return w
}
