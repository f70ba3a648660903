// Runs one scenario of the workqueue benchmark on client-go's queues or on controller-runtime's priority queue and
// prints the sample as one line of JSON. Usage: workqueue <subject> <scenario> <keys>
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

type sample struct {
	Ops        int     `json:"ops"`
	WallMs     float64 `json:"wallMs"`
	CPUMs      float64 `json:"cpuMs"`
	PeakRSSMB  float64 `json:"peakRssMb"`
	BytesPerKy float64 `json:"bytesPerKey,omitempty"`
}

type queue interface {
	Add(item string)
	Get() (string, bool)
	Done(item string)
	ShutDown()
}

type delayingQueue interface {
	queue
	AddAfter(item string, after time.Duration)
}

type prioritized struct {
	priorityqueue.PriorityQueue[string]
}

func newQueue(subject string) delayingQueue {
	switch subject {
	case "client-go":
		return workqueue.NewTypedDelayingQueue[string]()
	case "controller-runtime":
		return prioritized{priorityqueue.New("bench", func(o *priorityqueue.Opts[string]) {
			o.MetricProvider = noMetrics{}
		})}
	}
	panic("unknown subject " + subject)
}

func makeKeys(count int, prefix string) []string {
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprintf("%s-%d/object-%d", prefix, i%100, i)
	}
	return keys
}

// shuffled gives each number below distinct as often as the others, in an order that the Node program draws alike.
func shuffled(count, distinct int) []int32 {
	order := make([]int32, count)
	for i := range order {
		order[i] = int32(i % distinct)
	}
	state := uint32(1)
	for i := count - 1; i > 0; i-- {
		state = state*1664525 + 1013904223
		other := uint64(state) * uint64(i+1) >> 32
		order[i], order[other] = order[other], order[i]
	}
	return order
}

func drain(q queue, count int) {
	for i := 0; i < count; i++ {
		key, _ := q.Get()
		q.Done(key)
	}
}

func usage() (cpuMs, rssMb float64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	ms := func(t syscall.Timeval) float64 { return float64(t.Sec)*1000 + float64(t.Usec)/1000 }
	return ms(u.Utime) + ms(u.Stime), float64(u.Maxrss) / 1024
}

func heapBytes() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// The same number of passes as on the other side.
const warmUps = 3

// timed runs prepare and work a few times to warm up, then again with the clock running during work only.
func timed(work func() (ops int), prepare func()) sample {
	for pass := 0; pass < warmUps; pass++ {
		prepare()
		work()
	}
	prepare()
	cpuBefore, _ := usage()
	start := time.Now()
	ops := work()
	wall := time.Since(start)
	cpuAfter, rss := usage()
	return sample{Ops: ops, WallMs: float64(wall.Nanoseconds()) / 1e6, CPUMs: cpuAfter - cpuBefore, PeakRSSMB: rss}
}

func main() {
	subject, scenario := os.Args[1], os.Args[2]
	count, err := strconv.Atoi(os.Args[3])
	if err != nil {
		panic(err)
	}
	var result sample
	switch scenario {
	case "distinct":
		keys := makeKeys(count, "namespace")
		var q queue
		result = timed(func() int {
			for _, key := range keys {
				q.Add(key)
			}
			drain(q, count)
			return count
		}, func() { q = newQueue(subject) })
	case "duplicates":
		keys := makeKeys(count/10, "namespace")
		var q queue
		result = timed(func() int {
			for i := 0; i < count; i++ {
				q.Add(keys[i%len(keys)])
			}
			drain(q, len(keys))
			return count
		}, func() { q = newQueue(subject) })
	case "duplicates-shuffled":
		keys := makeKeys(count/10, "namespace")
		order := shuffled(count, len(keys))
		var q queue
		result = timed(func() int {
			for _, index := range order {
				q.Add(keys[index])
			}
			drain(q, len(keys))
			return count
		}, func() { q = newQueue(subject) })
	case "cycling":
		keys := makeKeys(1000, "namespace")
		var q queue
		result = timed(func() int {
			for round := 0; round < count/1000; round++ {
				for _, key := range keys {
					q.Add(key)
				}
				drain(q, len(keys))
			}
			return count
		}, func() { q = newQueue(subject) })
	case "delayed-pending":
		keys := makeKeys(count, "namespace")
		later := makeKeys(count, "later")
		var q delayingQueue
		result = timed(func() int {
			for _, key := range keys {
				q.Add(key)
			}
			drain(q, count)
			return count
		}, func() {
			q = newQueue(subject)
			for i, key := range later {
				q.AddAfter(key, time.Hour+time.Duration(i*7919%count)*time.Millisecond)
			}
			// The loop of the queue may still be at work on the last of them.
			time.Sleep(300 * time.Millisecond)
		})
	case "delayed-add":
		keys := makeKeys(count, "namespace")
		result = timed(func() int {
			q := newQueue(subject)
			for i, key := range keys {
				q.AddAfter(key, time.Hour+time.Duration(i*7919%count)*time.Millisecond)
			}
			return count
		}, func() {})
	case "delayed-due":
		// All fall due together; the clock runs from that moment.
		keys := makeKeys(count, "namespace")
		q := newQueue(subject)
		due := time.Now().Add(6 * time.Second)
		for _, key := range keys {
			q.AddAfter(key, time.Until(due))
		}
		if time.Now().After(due) {
			panic("the adds took longer than the delay")
		}
		runtime.GC()
		time.Sleep(time.Until(due) - 50*time.Millisecond)
		cpuBefore, _ := usage()
		drain(q, count)
		wall := time.Since(due)
		cpuAfter, rss := usage()
		result = sample{Ops: count, WallMs: float64(wall.Nanoseconds()) / 1e6, CPUMs: cpuAfter - cpuBefore, PeakRSSMB: rss}
	case "priorities":
		keys := makeKeys(count, "namespace")
		var q prioritized
		priorities := []int{-100, 0, 10, 20, 30}
		result = timed(func() int {
			for i, key := range keys {
				q.AddWithOpts(priorityqueue.AddOpts{Priority: &priorities[i%5]}, key)
			}
			for i := 0; i < count; i++ {
				key, _, _ := q.GetWithPriority()
				q.Done(key)
			}
			return count
		}, func() { q = newQueue(subject).(prioritized) })
	case "memory", "memory-delayed":
		keys := makeKeys(count, "namespace")
		before := heapBytes()
		q := newQueue(subject)
		for i, key := range keys {
			if scenario == "memory" {
				q.Add(key)
			} else {
				q.AddAfter(key, time.Hour+time.Duration(i*7919%count)*time.Millisecond)
			}
		}
		time.Sleep(200 * time.Millisecond)
		after := heapBytes()
		_, rss := usage()
		result = sample{Ops: count, PeakRSSMB: rss, BytesPerKy: (after - before) / float64(count)}
		q.Add("keep")
		runtime.KeepAlive(keys)
	default:
		panic("unknown scenario " + scenario)
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		panic(err)
	}
}
