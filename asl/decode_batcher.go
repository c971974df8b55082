package asl

// maxBatchBytes is the maximum input of a child execution.
const maxBatchBytes = 262_144

var (
	batchItems = limits{min: 1}
	batchBytes = limits{min: 1, max: maxBatchBytes}
)

// batcher decodes the ItemBatcher of a distributed Map.
func (d *decoder) batcher(o object) *ItemBatcher {
	v, ok := o.get("ItemBatcher")
	if !ok {
		return nil
	}
	d.enter("ItemBatcher")
	defer d.leave()
	bo, ok := d.object(v, batcherFields, o.language)
	if !ok {
		return nil
	}
	bo.str("Comment")
	b := &ItemBatcher{
		MaxItemsPerBatch:      bo.scalar("MaxItemsPerBatch", batchItems, referencePath),
		MaxInputBytesPerBatch: bo.scalar("MaxInputBytesPerBatch", batchBytes, referencePath),
		BatchInput:            bo.template("BatchInput", 0),
	}
	if !b.MaxItemsPerBatch.Present() && !b.MaxInputBytesPerBatch.Present() {
		d.fail("At least one of these fields is required: [MaxItemsPerBatch, MaxInputBytesPerBatch]")
	}
	return b
}
