# every data frame of the packages' data, as CSV with a header; and a line of types
args <- commandArgs(TRUE)
out <- args[1]
libs <- args[-1]
seen <- character(0)
for (lib in libs) for (pkg in list.files(lib)) {
  dir <- file.path(lib, pkg, "data")
  if (!dir.exists(dir)) next
  rdb <- file.path(dir, "Rdata.rdb")
  e <- new.env()
  if (file.exists(rdb)) { try(lazyLoad(file.path(dir, "Rdata"), e), silent = TRUE)
  } else for (f in list.files(dir, full.names = TRUE)) {
    try(if (grepl("\\.rda$|\\.RData$", f, ignore.case = TRUE)) load(f, e)
        else if (grepl("\\.R$", f)) source(f, local = e)
        else if (grepl("\\.(tab|txt)(\\.gz)?$", f)) assign(sub("\\..*", "", basename(f)), read.table(f, header = TRUE), e)
        else if (grepl("\\.csv(\\.gz)?$", f)) assign(sub("\\..*", "", basename(f)), read.table(f, header = TRUE, sep = ";"), e), silent = TRUE) }
  for (name in ls(e)) {
    d <- try(get(name, e), silent = TRUE)
    if (!is.data.frame(d) || nrow(d) < 10 || ncol(d) < 2 || nrow(d) > 60000) next
    d <- as.data.frame(d)
    keep <- sapply(d, function(x) is.numeric(x) || is.character(x) || is.factor(x) || is.logical(x) || inherits(x, "Date"))
    keep <- keep & sapply(d, function(x) is.null(dim(x)))
    d <- d[, keep, drop = FALSE]
    if (ncol(d) < 2) next
    types <- sapply(d, function(x) if (inherits(x, "Date")) "date" else if (is.factor(x) || is.character(x)) "text" else if (is.logical(x)) "boolean"
                    else if (all(is.na(x) | (x == round(x) & abs(x) < 2e9))) "int" else "float8")
    for (i in seq_along(d)) if (types[i] == "int") d[[i]] <- as.integer(d[[i]])
    table <- paste(pkg, name, sep = ".")
    if (table %in% seen) next
    seen <- c(seen, table)
    write.csv(d, file.path(out, paste0(table, ".csv")), row.names = FALSE, na = "")
    writeLines(paste(names(d), types, sep = "\t"), file.path(out, paste0(table, ".cols")))
  }
}
