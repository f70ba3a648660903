// What a benchmark is made of. Each program is run in a fresh process and prints one Sample as a line of JSON.
                                           

/** A program to measure, or the reason why it cannot be run here. */
                                                                                                                        

/** One of the things that are compared. */
                          
                        
                                                                                                   
                               
 

/** A subject with the arguments of one measurement. */
                              
                           
                                   
 

/** What is read from samples. */
                          
                        
                                              
                                   
                                          
 

/** One comparison of ours with one peer. */
                         
                          
                             
                             
                            
                                                                                    
                                
                                    
                              
 

/** A figure of ours against a fixed limit, e.g. a pause. */
                                                           
                         
 

                            
                                        
                                                      
 

export const throughput          = { unit: 'ops/s', better: 'more', of: ({ ops, wallMs }) => (ops / wallMs) * 1000 };
export const cpu          = { unit: 'CPU µs/op', better: 'less', of: ({ ops, cpuMs }) => (cpuMs / ops) * 1000 };
export const peakMemory          = {
  unit: 'MiB peak RSS',
  better: 'less',
  of: ({ peakRssMb }) => peakRssMb ?? Number.NaN,
};
export const bytesPerKey          = {
  unit: 'bytes/key',
  better: 'less',
  of: (sample) => sample.bytesPerKey ?? Number.NaN,
};
export const pause          = { unit: 'ms', better: 'less', of: ({ pauseMs }) => pauseMs ?? Number.NaN };

export const usualPause          = {
  unit: 'ms, p99.9',
  better: 'less',
  of: (sample) => sample.pauseP999Ms ?? Number.NaN,
};

/** A figure of throughput, and those of CPU time and peak memory beside it. */
export function compare(figure        , ours             , peer             , reach               )           {
  const aim = reach === null ? null : reach * 2;
  return [
    { figure, ours, peer, reading: throughput, reach, aim },
    { figure: `${figure}: CPU time`, ours, peer, reading: cpu, reach: null, aim: null },
    { figure: `${figure}: peak memory`, ours, peer, reading: peakMemory, reach: null, aim: null },
  ];
}
