// Which sizes are measured, and what may grow how: with n, a total may grow like n and a figure for each may not grow.
                                      

/** What one point measures, as `point.ts` prints it. */
                          
                                                                        
                         
                                                                  
                             
                                                                          
                           
                              
                                                             
                              
                                                                                 
                               
                               
                                                                             
                                
                                
 

/** A curve: one figure along one axis. */
                        
                                 
                         
                        
                                                    
                         
                                                                                                                           
                           
                                                                                                      
                        
 

                       
                            
                                         
                      
                                  
                                    
 

const start        = { figure: 'startCpuMs', title: 'start, CPU', unit: 's', scale: 1000, inherent: 0, from: 500 };
const wall        = { figure: 'startMs', title: 'start to synced', unit: 's', scale: 1000, inherent: 0, from: 1000 };
const heap        = { figure: 'heapBytes', title: 'live heap', unit: 'MB', scale: 1e6, inherent: 0, from: 30e6 };
const resident        = { figure: 'bytes', title: 'resident', unit: 'MB', scale: 1e6, inherent: 0, from: 60e6 };
const event        = { figure: 'eventCpuUs', title: 'CPU of an event', unit: 'µs', scale: 1, inherent: 0, from: 10 };
const turns                   = [
  { figure: 'startTurnMs', title: 'longest turn, start', unit: 'ms', scale: 1, inherent: 0, from: 25 },
  { figure: 'stormTurnMs', title: 'longest turn, storm', unit: 'ms', scale: 1, inherent: 0, from: 25 },
];
const latency        = { figure: 'latencyP99Ms', title: 'latency, p99', unit: 'ms', scale: 1, inherent: 0, from: 25 };
const growing = (curve       )        => ({ ...curve, inherent: 1 });

const point = (size               )       => ({ objects: 100_000, kinds: 1, namespaces: 100, handlers: 1, ...size });

export const axes                  = [
  {
    name: 'objects',
    of: '100 namespaces',
    sizes: [1000, 10_000, 100_000, 1_000_000].map((objects) => point({ objects })),
    curves: [growing(resident), growing(heap), growing(start), growing(wall), event, ...turns, latency],
  },
  {
    name: 'kinds',
    of: '100,000 objects together',
    sizes: [1, 10, 100].map((kinds) => point({ kinds })),
    curves: [resident, heap, start, wall, event, ...turns, latency],
  },
  {
    name: 'namespaces',
    of: '100,000 objects',
    sizes: [1, 10, 100, 1000, 10_000].map((namespaces) => point({ namespaces })),
    curves: [resident, heap, start, wall, event, ...turns, latency],
  },
  {
    name: 'handlers',
    of: '5,000 objects',
    sizes: [1, 10, 100, 1000].map((handlers) => point({ objects: 5000, handlers })),
    curves: [growing(resident), growing(heap), growing(start), growing(wall), growing(event), ...turns, latency],
  },
];
