package asl

func (w writer) mapFields(m *MapFields) {
	if m == nil {
		return
	}
	w.text("Label", m.Label)
	w.text("ItemsPath", m.ItemsPath)
	w.any("Items", m.Items)
	w.itemReader(m.Reader)
	w.any("ItemSelector", m.ItemSelector)
	w.itemBatcher(m.Batcher)
	w.scalar("MaxConcurrency", m.MaxConcurrency)
	w.scalar("ToleratedFailureCount", m.ToleratedFailureCount)
	w.scalar("ToleratedFailurePercentage", m.ToleratedFailurePercentage)
	if m.Processor != nil {
		w.inner("ItemProcessor", func(w writer) { w.processor(m) })
	}
	w.resultWriter(m.Writer)
}

func (w writer) processor(m *MapFields) {
	w.inner("ProcessorConfig", func(w writer) {
		mode := modeInline
		if m.Distributed {
			mode = modeDistributed
		}
		w.text("Mode", mode)
		w.text("ExecutionType", m.Execution)
	})
	w.graph(m.Processor)
}

func (w writer) itemReader(r *ItemReader) {
	if r == nil {
		return
	}
	w.inner("ItemReader", func(w writer) {
		w.text("Resource", r.Resource)
		if config := w.element(func(w writer) { w.readerConfig(r) }); config.Len() > 0 {
			w.object.Set("ReaderConfig", config)
		}
		w.any(w.locationField(), r.Parameters)
	})
}

func (w writer) readerConfig(r *ItemReader) {
	w.text("InputType", r.InputType)
	w.text("Transformation", r.Transformation)
	w.text("ManifestType", r.ManifestType)
	w.text("CSVDelimiter", r.CSVDelimiter)
	w.text("CSVHeaderLocation", r.CSVHeaderLocation)
	if r.CSVHeaders != nil {
		w.texts("CSVHeaders", r.CSVHeaders)
	}
	w.text("ItemsPointer", r.ItemsPointer)
	w.scalar("MaxItems", r.MaxItems)
}

func (w writer) itemBatcher(b *ItemBatcher) {
	if b == nil {
		return
	}
	w.inner("ItemBatcher", func(w writer) {
		w.scalar("MaxItemsPerBatch", b.MaxItemsPerBatch)
		w.scalar("MaxInputBytesPerBatch", b.MaxInputBytesPerBatch)
		w.any("BatchInput", b.BatchInput)
	})
}

func (w writer) resultWriter(r *ResultWriter) {
	if r == nil {
		return
	}
	w.inner("ResultWriter", func(w writer) {
		w.text("Resource", r.Resource)
		if r.Transformation != "" || r.OutputType != "" || r.Resource == "" {
			w.inner("WriterConfig", func(w writer) {
				w.text("Transformation", r.Transformation)
				w.text("OutputType", r.OutputType)
			})
		}
		w.any(w.locationField(), r.Parameters)
	})
}
