package dashboards

import "fmt"

// Limits of a dashboard body.
const (
	columns    = 24
	maxHeight  = 1000
	maxWidgets = 500
	maxAlarms  = 100
	maxRows    = 500
)

// Check returns an error for the first part of the dashboard that CloudWatch would refuse or show without data: a
// metric that does not have the dimension set, a unit that differs from the axis's, or a position off the grid.
func (d Dashboard) Check() error {
	if len(d.Widgets) > maxWidgets {
		return fmt.Errorf("dashboard %s has %d widgets, %d are allowed", d.Name, len(d.Widgets), maxWidgets)
	}
	for _, w := range d.Widgets {
		if err := w.check(); err != nil {
			return fmt.Errorf("dashboard %s, widget %q: %w", d.Name, w.Title, err)
		}
	}
	return nil
}

func (w Widget) check() error {
	switch {
	case w.X < 0 || w.Width < 1 || w.X+w.Width > columns || w.Y < 0 || w.Height < 1 || w.Height > maxHeight:
		return fmt.Errorf("x %d, y %d, width %d, height %d is off the grid of %d columns", w.X, w.Y, w.Width, w.Height,
			columns)
	case len(w.Alarms) > maxAlarms:
		return fmt.Errorf("%d alarms, %d are allowed", len(w.Alarms), maxAlarms)
	case w.Metric == nil:
		return nil
	case len(w.Metric.Rows) == 0 || len(w.Metric.Rows) > maxRows:
		return fmt.Errorf("%d rows; 1 to %d are allowed", len(w.Metric.Rows), maxRows)
	}
	for _, r := range w.Metric.Rows {
		all := r.series()
		if len(all) == 0 {
			return fmt.Errorf("row %q has no metric", r.Label)
		}
		for _, s := range all {
			if err := s.Check(); err != nil {
				return fmt.Errorf("row %q: %w", r.Label, err)
			}
		}
		if r.unit() != w.Metric.Unit {
			return fmt.Errorf("row %q is in %s and the axis in %s", r.Label, r.unit(), w.Metric.Unit)
		}
	}
	return nil
}
