# Draws the freeform experiments: gnuplot -e "dir='bench/results'" bench/freeform.gp
set datafile separator "\t"
set datafile missing NaN
set terminal svg size 1000,760 dynamic noenhanced font "sans-serif,12" background "#ffffff"
set border 3 lc rgb "#888888"
set tics nomirror textcolor rgb "#333333"
set grid y lc rgb "#dddddd"
file = dir."/freeform.tsv"
set output dir."/freeform.svg"
set multiplot layout 2,3 title "Freeform generalisation on Adult-2"
set key off

# of a method with (1) or without (0) partitions, the column y where the others are fixed
at(m, part, r, c, k, y) = (strcol(1) eq m && (column(5) > 0) == part && (r == 0 || column(2) == r) && (c == 0 || column(3) == c) && (k == 0 || column(4) == k)) ? column(y) : NaN
methods = "greedy sort_greedy ring pattern_guided mondrian bottom_up greedy sort_greedy hungarian min_cost_flow concealment"
colours = "#4477aa #cc3311 #888888 #000000 #ee7733 #009988 #4477aa #cc3311 #228833 #aa3377 #ccbb44"
part(n) = n > 6
classes(n) = n > 3 && n < 7
name(n) = word(methods, n).(part(n) ? ", parts" : "")
lines(x, r, c, k, y) = sprintf("plot for [n=1:11] '%s' every ::1 using (at(word(methods,n), part(n), %d, %d, %d, %d) == at(word(methods,n), part(n), %d, %d, %d, %d) ? column(%d) : NaN):(at(word(methods,n), part(n), %d, %d, %d, %d)) with linespoints pt (classes(n) ? 5 : part(n) ? 6 : 7) ps 0.6 lc rgb word(colours,n) title name(n)", file, r, c, k, y, r, c, k, y, x, r, c, k, y)

set ylabel "GCP"
set xlabel "k (10,000 rows, 8 columns)"
set logscale x
set xtics (2,5,10,20,50)
eval(lines(4, 10000, 8, 0, 6))
unset logscale x
set xtics autofreq
set xlabel "columns (10,000 rows, k = 10)"
eval(lines(3, 10000, 0, 10, 6))
set xlabel "rows (8 columns, k = 10)"
set logscale x
set xtics ("1k" 1000, "2k" 2000, "4k" 4000, "8k" 8000, "16k" 16000, "32k" 32000)
set key top right samplen 1 font "sans-serif,9"
set yrange [0:0.6]
eval(lines(2, 0, 8, 10, 6))
set key off
set yrange [*:*]
set ylabel "seconds of one processor"
set logscale y
set xlabel "k (10,000 rows, 8 columns)"
set xtics (2,5,10,20,50)
eval(lines(4, 10000, 8, 0, 7))
unset logscale x
set xtics autofreq
set xlabel "columns (10,000 rows, k = 10)"
eval(lines(3, 10000, 0, 10, 7))
set xlabel "rows (8 columns, k = 10)"
set logscale x
set xtics ("1k" 1000, "2k" 2000, "4k" 4000, "8k" 8000, "16k" 16000, "32k" 32000)
eval(lines(2, 0, 8, 10, 7))
unset multiplot

reset
set datafile separator "\t"
set datafile missing NaN
set terminal svg size 700,430 dynamic noenhanced font "sans-serif,13" background "#ffffff"
set border 3 lc rgb "#888888"
set tics nomirror textcolor rgb "#333333"
set grid y lc rgb "#dddddd"
set key outside right
set xtics 1
set xlabel "k"
set ylabel "mean GCP"
set title "100 tables of 14 rows, 8 columns"
set output dir."/freeform_samples.svg"
file = dir."/freeform_samples.tsv"
methods = "mip hungarian sort_greedy greedy min_cost_flow concealment ring bottom_up mondrian pattern_guided"
colours = "#000000 #228833 #cc3311 #4477aa #aa3377 #ccbb44 #888888 #009988 #ee7733 #000000"
plot for [n=1:10] file every ::1 using (strcol(1) eq word(methods,n) ? column(5) : NaN):6 with linespoints pt (n > 7 ? 5 : 7) ps 0.6 lc rgb word(colours,n) title word(methods,n)
