// An operator on controller-runtime that has nothing to do:
// reconcile <server.json> <initial|events|updates> <objects> <passes>
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func rusage() syscall.Rusage {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage
}

func cpuMs() float64 {
	usage := rusage()
	at := func(t syscall.Timeval) float64 { return float64(t.Sec)*1000 + float64(t.Usec)/1000 }
	return at(usage.Utime) + at(usage.Stime)
}

// residentMb is measured after rest: collected, and free pages given back.
func residentMb() float64 {
	for range 4 {
		runtime.GC()
		debug.FreeOSMemory()
		time.Sleep(150 * time.Millisecond)
	}
	text, err := os.ReadFile("/proc/self/statm")
	must(err)
	pages, err := strconv.ParseFloat(strings.Fields(string(text))[1], 64)
	must(err)
	return pages * float64(os.Getpagesize()) / (1 << 20)
}

func connect(path string) *rest.Config {
	text, err := os.ReadFile(path)
	must(err)
	var where struct{ URL, CA, Token string }
	must(json.Unmarshal(text, &where))
	return &rest.Config{
		Host:            where.URL,
		BearerToken:     where.Token,
		TLSClientConfig: rest.TLSClientConfig{CAData: []byte(where.CA)},
		QPS:             -1,
	}
}

// The colour of the write that ends each part of a run; of other writes it is another one.
const coldEnd, warmStart, end = "cold-end", "warm-start", "end"

// part is what was measured in a part of a run.
type part struct {
	ops                        int
	wallMs, cpuMs, p50Ms, p99Ms float64
}

// state is written by the one worker and read by main after it was told to.
type state struct {
	reconciles int
	goal       int
	measuring  bool
	lastSent   map[string]float64
	latencies  []float64
	reached    chan struct{}

	before int
	start  time.Time
	used   float64
	cold   part
	warm   part
	mark   string
}

func (s *state) begin() {
	s.latencies, s.before = nil, s.reconciles
	s.start, s.used = time.Now(), cpuMs()
}

func (s *state) part() part {
	sort.Float64s(s.latencies)
	return part{
		ops:    s.reconciles - s.before,
		wallMs: float64(time.Since(s.start).Microseconds()) / 1000,
		cpuMs:  cpuMs() - s.used,
		p50Ms:  percentile(s.latencies, 0.5),
		p99Ms:  percentile(s.latencies, 0.99),
	}
}

// marked is called with the colour of the widget that carries the marks.
func (s *state) marked(colour string) {
	if colour == s.mark {
		return
	}
	switch colour {
	case coldEnd:
		s.cold = s.part()
	case warmStart:
		s.begin()
	case end:
		s.warm = s.part()
		s.reached <- struct{}{}
	default:
		return
	}
	s.mark = colour
}

func percentile(sorted []float64, share float64) float64 {
	return sorted[min(len(sorted)-1, int(float64(len(sorted))*share))]
}

func printSample(sample map[string]any) {
	sample["peakRssMb"] = float64(rusage().Maxrss) / 1024
	text, err := json.Marshal(sample)
	must(err)
	fmt.Println(string(text))
}

func main() {
	scenario := os.Args[2]
	objects, _ := strconv.Atoi(os.Args[3])
	passes, _ := strconv.Atoi(os.Args[4])
	log.SetLogger(logr.Discard())
	manager, err := ctrl.NewManager(connect(os.Args[1]), ctrl.Options{
		Scheme:  newScheme(),
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	must(err)
	reader := manager.GetClient()
	s := &state{goal: objects, reached: make(chan struct{}, 1), lastSent: map[string]float64{}}
	noop := func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		widget := &Widget{}
		if err := reader.Get(ctx, request.NamespacedName, widget); err != nil {
			return ctrl.Result{}, err
		}
		if s.measuring && scenario == "updates" {
			if widget.Spec.SentAt != s.lastSent[widget.Name] {
				s.lastSent[widget.Name] = widget.Spec.SentAt
				s.latencies = append(s.latencies, float64(time.Now().UnixMicro())/1000-widget.Spec.SentAt)
			}
		}
		s.reconciles++
		if s.measuring && scenario == "updates" && widget.Name == "widget-00000" {
			s.marked(widget.Spec.Colour)
		}
		if s.reconciles == s.goal {
			s.reached <- struct{}{}
		}
		return ctrl.Result{}, nil
	}
	channel := make(chan event.TypedGenericEvent[*Widget])
	must(ctrl.NewControllerManagedBy(manager).
		For(&Widget{}).
		WatchesRawSource(source.Channel(channel, &handler.TypedEnqueueRequestForObject[*Widget]{})).
		Complete(reconcile.Func(noop)))

	start, used := time.Now(), cpuMs()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	<-s.reached
	if scenario == "initial" {
		wall := float64(time.Since(start).Microseconds()) / 1000
		used = cpuMs() - used
		printSample(map[string]any{"ops": s.reconciles, "wallMs": wall, "cpuMs": used, "residentMb": residentMb()})
	} else if scenario == "events" {
		keys := make([]*Widget, objects)
		for i := range keys {
			keys[i] = &Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: fmt.Sprintf("widget-%05d", i)}}
		}
		pass := func() {
			s.goal = s.reconciles + objects
			for _, key := range keys {
				channel <- event.TypedGenericEvent[*Widget]{Object: key}
			}
			<-s.reached
		}
		for range passes {
			pass()
		}
		before := s.reconciles
		start, used = time.Now(), cpuMs()
		for range passes {
			pass()
		}
		wall := float64(time.Since(start).Microseconds()) / 1000
		printSample(map[string]any{"ops": s.reconciles - before, "wallMs": wall, "cpuMs": cpuMs() - used})
	} else {
		list := &WidgetList{}
		must(reader.List(ctx, list, client.InNamespace("bench")))
		for i := range list.Items {
			s.lastSent[list.Items[i].Name] = list.Items[i].Spec.SentAt
		}
		time.Sleep(time.Second) // what the start has left to do is not part of it
		s.begin()
		s.goal, s.measuring = -1, true
		fmt.Println("ready")
		<-s.reached
		printSample(map[string]any{
			"ops": s.cold.ops, "wallMs": s.cold.wallMs, "cpuMs": s.cold.cpuMs,
			"p50Ms": s.cold.p50Ms, "p99Ms": s.cold.p99Ms,
			"warmP50Ms": s.warm.p50Ms, "warmP99Ms": s.warm.p99Ms,
			"warmCpuUs": s.warm.cpuMs / float64(s.warm.ops) * 1000,
		})
	}
	cancel()
	must(<-ended)
}
